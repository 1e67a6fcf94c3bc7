//! What answers are made of.

/// A part of an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Content {
    /// Text.
    Text(String),
    /// A picture.
    Image {
        /// Base64.
        data: String,
        /// Its media type.
        mime: String,
    },
    /// Sound.
    Audio {
        /// Base64.
        data: String,
        /// Its media type.
        mime: String,
    },
    /// A resource with its contents.
    Resource(Contents),
}

/// What a resource holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Contents {
    /// Which resource.
    pub uri: String,
    /// Its media type.
    pub mime: String,
    /// Its bytes, or its text.
    pub body: Body,
}

/// The two forms in which a resource travels.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Body {
    /// Text.
    Text(String),
    /// Bytes in base64.
    Blob(String),
}

impl Contents {
    /// A resource of text.
    pub fn text(uri: impl Into<String>, mime: impl Into<String>, text: impl Into<String>) -> Self {
        Self {
            uri: uri.into(),
            mime: mime.into(),
            body: Body::Text(text.into()),
        }
    }
}
