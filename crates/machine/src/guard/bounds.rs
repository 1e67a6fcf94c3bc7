//! How long, how deep and how laborious an expression may be: before it is compiled, and as a tree.

use cel::common::ast::{EntryExpr, Expr, IdedExpr};

/// The longest expression that is compiled, in bytes.
pub const MAX_LENGTH: usize = 1024;
/// The deepest nesting of brackets and operators that is compiled.
pub const MAX_DEPTH: usize = 16;

/// The deepest syntax tree that is evaluated.
const MAX_TREE: usize = 48;

/// How many times a walk through a list may stand inside another one: the time an expression takes
/// grows with every one of them by the length of the list.
const MAX_LOOPS: usize = 2;

/// Whether a tree can be evaluated and dropped, which recurse too, on whatever stack the caller has; or why not.
pub(super) fn of_tree(expression: &IdedExpr) -> Result<(), String> {
    if !shallower(expression, MAX_TREE) {
        return Err(format!("has more than {MAX_TREE} operations in a row"));
    }
    if loops(expression) > MAX_LOOPS {
        return Err("goes through a list inside a list inside a list".to_owned());
    }
    Ok(())
}

/// How deep walks through lists stand in one another.
fn loops(expression: &IdedExpr) -> usize {
    let deepest = |parts: &[&IdedExpr]| parts.iter().map(|part| loops(part)).max().unwrap_or(0);
    let entry = |entry: &EntryExpr| match entry {
        EntryExpr::MapEntry(entry) => deepest(&[&entry.key, &entry.value]),
        EntryExpr::StructField(field) => loops(&field.value),
    };
    match &expression.expr {
        Expr::Call(call) => {
            let target = call.target.as_ref().map_or(0, |target| loops(target));
            let args = call.args.iter().map(loops).max().unwrap_or(0);
            target.max(args)
        }
        Expr::Select(select) => loops(&select.operand),
        Expr::List(list) => list.elements.iter().map(loops).max().unwrap_or(0),
        Expr::Map(map) => map
            .entries
            .iter()
            .map(|one| entry(&one.expr))
            .max()
            .unwrap_or(0),
        Expr::Struct(fields) => fields
            .entries
            .iter()
            .map(|one| entry(&one.expr))
            .max()
            .unwrap_or(0),
        Expr::Comprehension(inner) => {
            // The list itself, the start and the end are looked at once; the rest each time round.
            let once = deepest(&[&inner.iter_range, &inner.accu_init, &inner.result]);
            let again = deepest(&[&inner.loop_cond, &inner.loop_step]);
            once.max(again + 1)
        }
        _ => 0,
    }
}

/// Whether the tree is at most `limit` deep.
fn shallower(expression: &IdedExpr, limit: usize) -> bool {
    let Some(limit) = limit.checked_sub(1) else {
        return false;
    };
    let all = |parts: &[&IdedExpr]| parts.iter().all(|part| shallower(part, limit));
    match &expression.expr {
        Expr::Call(call) => {
            call.target
                .as_ref()
                .is_none_or(|target| shallower(target, limit))
                && call.args.iter().all(|part| shallower(part, limit))
        }
        Expr::Select(select) => shallower(&select.operand, limit),
        Expr::List(list) => list.elements.iter().all(|part| shallower(part, limit)),
        Expr::Map(map) => map.entries.iter().all(|entry| match &entry.expr {
            EntryExpr::MapEntry(entry) => all(&[&entry.key, &entry.value]),
            EntryExpr::StructField(field) => shallower(&field.value, limit),
        }),
        Expr::Struct(fields) => fields.entries.iter().all(|entry| match &entry.expr {
            EntryExpr::MapEntry(entry) => all(&[&entry.key, &entry.value]),
            EntryExpr::StructField(field) => shallower(&field.value, limit),
        }),
        Expr::Comprehension(inner) => all(&[
            &inner.iter_range,
            &inner.accu_init,
            &inner.loop_cond,
            &inner.loop_step,
            &inner.result,
        ]),
        _ => true,
    }
}

/// Whether a text can be compiled; or why not.
pub(super) fn of_text(text: &str) -> Result<(), String> {
    if text.trim().is_empty() {
        return Err("is empty".to_owned());
    }
    if text.len() > MAX_LENGTH {
        return Err(format!("is longer than {MAX_LENGTH} bytes"));
    }
    if depth(text) > MAX_DEPTH {
        return Err(format!("is nested more than {MAX_DEPTH} deep"));
    }
    Ok(())
}

/// An upper bound on how deep the parser may recurse for `text`: brackets, unary operators in a
/// row, `? :` chains, and selections in a row all nest.
pub(super) fn depth(text: &str) -> usize {
    let (mut open, mut deepest, mut unary, mut chain, mut ternary) =
        (0_usize, 0, 0_usize, 0_usize, 0_usize);
    let mut quote: Option<char> = None;
    let mut previous = '\0';
    for c in text.chars() {
        if let Some(mark) = quote {
            if c == mark && previous != '\\' {
                quote = None;
            }
            previous = if previous == '\\' { '\0' } else { c };
            continue;
        }
        match c {
            '"' | '\'' => quote = Some(c),
            '(' | '[' | '{' => open += 1,
            ')' | ']' | '}' => open = open.saturating_sub(1),
            '!' | '-' => unary += 1,
            '?' => ternary += 1,
            '.' => chain += 1,
            _ => {}
        }
        if !matches!(c, '!' | '-') && !c.is_whitespace() {
            unary = 0;
        }
        if !matches!(c, '.') && !c.is_alphanumeric() && c != '_' {
            chain = 0;
        }
        previous = c;
        deepest = deepest.max(open + unary + ternary + chain.saturating_sub(2));
    }
    deepest
}
