//! A plan that is read is the text that was written, with the headings that were asked for.
use markup::response::plan::{self, MAX_REASON_CHARS, Plan};

/// Reads the bytes as a plan with two headings.
pub fn check(bytes: &[u8]) {
    let headings = ["Approach".to_owned(), "## Files".to_owned()];
    match plan::read(bytes, &headings) {
        Ok(Plan::Accepted { text }) => {
            assert!(bytes.ends_with(text.as_bytes()));
            let mut lower = text.to_lowercase();
            lower.retain(|c| !"*`".contains(c));
            assert!(lower.contains("approach") && lower.contains("files"));
            assert_eq!(
                plan::read(text.as_bytes(), &[]),
                Ok(Plan::Accepted { text })
            );
        }
        Ok(Plan::Invalid { reason }) => {
            assert!(!reason.trim().is_empty());
            assert!(reason.chars().count() <= MAX_REASON_CHARS);
            assert!(
                !reason
                    .chars()
                    .any(|c| c.is_control() && c != '\n' && c != '\t')
            );
        }
        Err(error) => {
            assert!(error.code().starts_with("plan_"));
            assert!(!error.suggestion().is_empty());
            let message = error.to_string();
            assert!(!message.is_empty() && message.len() < 4000, "{message}");
            assert!(!message.chars().any(char::is_control), "{message:?}");
        }
    }
}
