//! What a name that comes from outside may look like.

/// Why a name that becomes part of a path, a branch or an id is not fit for it; `None` where it is.
pub(super) fn unfit_name(name: &str) -> Option<&'static str> {
    if name.is_empty() {
        Some("it is empty")
    } else if name.chars().count() > 100 {
        Some("it is longer than 100 characters")
    } else if name.contains(['/', '\\']) {
        Some("it contains a path separator")
    } else if name.contains("..") {
        Some("it contains `..`")
    } else if name.starts_with('-') {
        Some("it begins with a dash")
    } else if name.starts_with('.') {
        Some("it begins with a dot")
    } else if name.chars().any(char::is_control) {
        Some("it contains a control character")
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_lead_elsewhere_are_unfit() {
        let long = "x".repeat(101);
        let unfit = "|a/b|a\\b|..|a..b|-f|.git|a\nb|\0".split('|');
        for name in unfit.chain([&*long]) {
            assert!(unfit_name(name).is_some(), "{name:?}");
        }
        for name in ["1", "1.2", "master", "größe", "tdd-workflow-phase-0"] {
            assert_eq!(unfit_name(name), None, "{name:?}");
        }
    }
}
