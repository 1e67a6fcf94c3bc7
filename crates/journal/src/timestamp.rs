//! The one form in which times are written, and its variant for the names of folders.

/// Whether `ts` is a UTC time in RFC 3339 with milliseconds, such as `2025-10-07T14:30:00.123Z`.
pub fn is_valid(ts: &str) -> bool {
    has_shape(ts, b"dddd-dd-ddTdd:dd:dd.dddZ") && ts.parse::<jiff::Timestamp>().is_ok()
}

/// `ts` as it stands in the id of a run: `2025-10-07T14-30-00-123Z`. `None` when `ts` is not valid.
pub fn for_id(ts: &str) -> Option<String> {
    is_valid(ts).then(|| ts.replace([':', '.'], "-"))
}

/// Whether `text` has the form that [`for_id`] gives.
pub(crate) fn is_id_form(text: &str) -> bool {
    has_shape(text, b"dddd-dd-ddTdd-dd-dd-dddZ")
}

/// Whether `text` has a digit wherever `shape` has `d`, and equals it elsewhere.
fn has_shape(text: &str, shape: &[u8]) -> bool {
    text.len() == shape.len()
        && text.bytes().zip(shape).all(|(byte, &form)| match form {
            b'd' => byte.is_ascii_digit(),
            other => byte == other,
        })
}
