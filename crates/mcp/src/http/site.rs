//! Pages beside the protocol: what a person's browser asks the same address for.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use http_body_util::BodyExt as _;
use hyper::body::{Body, Bytes, Frame};
use hyper::http::request::Parts;
use hyper::{Method, Response, StatusCode};
use tokio::sync::mpsc::error::TrySendError;
use tokio::sync::mpsc::{self, Receiver, Sender};
use tokio::sync::oneshot;

use super::priority::give_way;
use super::reply::Reply;
use crate::stdio::STACK;

/// How many pieces of a stream may wait for a reader before it counts as one that does not read.
const WAITING: usize = 256;

/// What answers everything that is not the protocol's.
///
/// Host and origin of a request were checked before. Whether its sender may know what it asks for is for the site to
/// say: a browser asks for a page before it can show anything.
pub trait Site: Send + Sync + 'static {
    /// Answers a request. Comes on a thread of its own, may block, and may come while others are under way.
    fn answer(&self, request: SiteRequest) -> Response<SiteBody>;
}

/// A request for the site.
#[derive(Debug)]
pub struct SiteRequest {
    /// Its method, target and headers.
    pub head: Parts,
    /// What was sent with it.
    pub body: Bytes,
    /// Whether it showed the token of the server.
    pub shows_token: bool,
}

/// What a site answers with.
#[derive(Debug)]
pub enum SiteBody {
    /// All of it.
    Whole(Bytes),
    /// Pieces, as they come. It ends with its [`StreamSender`], or with the server.
    Stream(StreamReceiver),
}

/// The reading end of a stream.
#[derive(Debug)]
pub struct StreamReceiver(Receiver<Bytes>);

/// The writing end of a stream.
#[derive(Debug, Clone)]
pub struct StreamSender(Sender<Bytes>);

/// Nobody reads the stream any more, or not fast enough.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NotRead;

impl StreamSender {
    /// Sends a piece, without waiting for anybody.
    ///
    /// # Errors
    /// Where the reader is gone, or many pieces wait for it: the stream is to be ended then, since it would have a gap.
    pub fn send(&self, piece: impl Into<Bytes>) -> Result<(), NotRead> {
        self.0.try_send(piece.into()).map_err(|error| match error {
            TrySendError::Full(_) | TrySendError::Closed(_) => NotRead,
        })
    }

    /// Whether somebody still reads.
    pub fn is_read(&self) -> bool {
        !self.0.is_closed()
    }
}

impl SiteBody {
    /// A stream, and what is sent into it.
    pub fn stream() -> (StreamSender, Self) {
        let (sender, receiver) = mpsc::channel(WAITING);
        (StreamSender(sender), Self::Stream(StreamReceiver(receiver)))
    }
}

impl Body for StreamReceiver {
    type Data = Bytes;
    type Error = std::convert::Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        self.0
            .poll_recv(context)
            .map(|piece| piece.map(|piece| Ok(Frame::data(piece))))
    }
}

/// Asks the site; whether what it answers is a stream.
///
/// Who only looks gives way to agents at work, here and in other processes, and so does what a site starts for them.
pub(super) async fn ask(site: Arc<dyn Site>, request: SiteRequest) -> (Response<Reply>, bool) {
    let only_looks = matches!(request.head.method, Method::GET | Method::HEAD);
    let (tell, told) = oneshot::channel();
    let thread = std::thread::Builder::new()
        .name("site".to_owned())
        .stack_size(STACK);
    let begun = thread.spawn(move || {
        if only_looks {
            give_way();
        }
        // Nobody may wait for it any more.
        let _ = tell.send(site.answer(request));
    });
    let (Ok(_), Ok(answer)) = (begun, told.await) else {
        // The site panicked, or there are no more threads: that one page is broken, and no other.
        let mut broken = Response::new(Reply::of(Bytes::from_static(
            b"This page could not be made: a fault of the server. What it shows of runs is unharmed.\n",
        )));
        *broken.status_mut() = StatusCode::INTERNAL_SERVER_ERROR;
        return (broken, false);
    };
    let is_stream = matches!(answer.body(), SiteBody::Stream(_));
    let response = answer.map(|body| match body {
        SiteBody::Whole(bytes) => Reply::of(bytes),
        SiteBody::Stream(stream) => Reply::from(stream.boxed()),
    });
    (response, is_stream)
}
