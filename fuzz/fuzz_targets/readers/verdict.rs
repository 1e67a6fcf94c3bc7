//! Every verdict that is read makes sense and reads back; a second block beside it is refused.
use markup::response::verdict;

/// Reads the bytes as a response with a verdict.
pub fn check(bytes: &[u8]) {
    match verdict::read(bytes) {
        Ok(read) => {
            assert!(read.issues_critical <= read.issues_total);
            assert!(!read.pass || read.issues_critical == 0);
            let block = format!(
                "@@@REVIEW_META\nverdict: {}\nissues_total: {}\nissues_critical: {}\nmissing_inputs: {}\n@@@\n",
                if read.pass { "PASS" } else { "FAIL" },
                read.issues_total,
                read.issues_critical,
                read.missing_inputs,
            );
            assert_eq!(verdict::read(block.as_bytes()), Ok(read));
            let twice = [bytes, b"\n", block.as_bytes()].concat();
            assert!(verdict::read(&twice).is_err());
        }
        Err(error) => {
            assert!(error.code().starts_with("verdict_"));
            assert!(!error.suggestion().is_empty());
            let message = error.to_string();
            assert!(!message.is_empty() && message.len() < 4000, "{message}");
            assert!(!message.chars().any(char::is_control), "{message:?}");
        }
    }
}
