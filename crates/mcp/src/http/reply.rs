//! The body of an answer, and what is held for as long as it is on its way.

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};

use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt as _, Full};
use hyper::body::{Body, Bytes, Frame, SizeHint};
use tokio_util::sync::{CancellationToken, WaitForCancellationFutureOwned};

use super::Held;
use super::connection_limit::Busy;

/// The body of an answer.
pub(super) struct Reply {
    body: Option<BoxBody<Bytes, Infallible>>,
    /// Let go with the last byte, or with the connection.
    held: Option<Held>,
    /// Let go with the body.
    busy: Option<Busy>,
    /// A stream that has no end of its own ends with the first of these.
    until: Vec<Pin<Box<WaitForCancellationFutureOwned>>>,
    /// Whether the event without data may stay by which a stream begins.
    primed: bool,
}

impl Reply {
    pub(super) fn of(bytes: Bytes) -> Self {
        Self::from(Full::new(bytes).boxed())
    }

    pub(super) fn holding(mut self, held: Held) -> Self {
        self.held = Some(held);
        self
    }

    pub(super) fn keeping(mut self, busy: Busy) -> Self {
        self.busy = Some(busy);
        self
    }

    /// Leaves out the event without data by which a stream begins, unless the client is `primed` for it.
    pub(super) fn primed(mut self, primed: bool) -> Self {
        self.primed = primed;
        self
    }

    pub(super) fn until(mut self, end: &CancellationToken) -> Self {
        self.until.push(Box::pin(end.clone().cancelled_owned()));
        self
    }
}

impl From<BoxBody<Bytes, Infallible>> for Reply {
    fn from(body: BoxBody<Bytes, Infallible>) -> Self {
        Self {
            body: Some(body),
            held: None,
            busy: None,
            until: Vec::new(),
            primed: true,
        }
    }
}

impl Body for Reply {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let mut ends = self.until.iter_mut();
        if ends.any(|end| end.as_mut().poll(context).is_ready()) {
            self.body = None;
            self.held = None;
        }
        let primed = self.primed;
        let Some(body) = &mut self.body else {
            return Poll::Ready(None);
        };
        loop {
            let polled = Pin::new(&mut *body).poll_frame(context);
            match &polled {
                Poll::Ready(Some(Ok(frame))) if !primed && is_priming(frame) => {}
                _ => return polled,
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        self.body.as_ref().is_none_or(Body::is_end_stream)
    }

    fn size_hint(&self) -> SizeHint {
        // A stream that may be ended from outside has no size to promise.
        match &self.body {
            Some(body) if self.until.is_empty() => body.size_hint(),
            _ => SizeHint::default(),
        }
    }
}

/// Whether this is an event without data. The SDK sends each event as a frame of its own.
fn is_priming(frame: &Frame<Bytes>) -> bool {
    let bytes = frame.data_ref();
    bytes.is_some_and(|bytes| bytes.starts_with(b"data: \n"))
}
