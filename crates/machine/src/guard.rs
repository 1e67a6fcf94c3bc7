//! Guards: CEL expressions over what a run knows.
//!
//! The CEL library recurses over its input, so what it is given is bounded before it is compiled,
//! and compiled on a stack that is large enough for the bound. Values cross the border as 64-bit
//! integers, doubles, text, lists and maps with every declared key present: the library knows no
//! static types, and a missing key or an unsigned number would be a fault at run time.

mod bounds;

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::sync::{Arc, OnceLock};

use cel::common::ast::{EntryExpr, Expr, IdedExpr};
use cel::objects::{Key, Map as CelMap};
use cel::{Context, Env, Program, Value as Cel};
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value};

use crate::diagnostic::{Located, Place};

/// Where an expression finds its variables.
pub trait Scope {
    /// The value of a top-level variable. Of a map only these `fields` are asked for, and others may be left out; where none
    /// are named, all are asked for.
    fn variable(&self, name: &str, fields: &[String]) -> Option<Value>;
}

impl Scope for Map<String, Value> {
    fn variable(&self, name: &str, _fields: &[String]) -> Option<Value> {
        self.get(name).cloned()
    }
}

/// What was found in a scope: each variable is looked up once, however many expressions name it. The scope must not change
/// meanwhile.
pub(crate) struct ScopeCache<'a> {
    scope: &'a dyn Scope,
    found: RefCell<Vec<Variable>>,
}

/// A variable with the fields that were asked for.
struct Variable {
    name: String,
    fields: Vec<String>,
    value: Option<Cel>,
}

impl<'a> ScopeCache<'a> {
    pub(crate) fn new(scope: &'a dyn Scope) -> Self {
        Self {
            scope,
            found: RefCell::default(),
        }
    }

    fn variable(&self, name: &str, fields: &[String]) -> Option<Cel> {
        let mut found = self.found.borrow_mut();
        let known = |found: &&Variable| found.name == name && found.fields == fields;
        if let Some(known) = found.iter().find(known) {
            return known.value.clone();
        }
        let value = self.scope.variable(name, fields);
        let value = value.map(|value| to_cel(&named(value, fields)));
        found.push(Variable {
            name: name.to_owned(),
            fields: fields.to_owned(),
            value: value.clone(),
        });
        value
    }
}

/// Why an expression gave no value.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` at line {}: {why}", at.line)]
pub struct GuardFault {
    /// The expression.
    pub text: String,
    /// Where it stands in the definition.
    pub at: Place,
    /// What went wrong.
    pub why: String,
}

/// A CEL expression as written, compiled when it is first needed.
#[derive(Debug, Clone)]
pub struct Expression {
    /// The text.
    pub text: String,
    /// Where it stands.
    pub at: Place,
    compiled: OnceLock<Result<Arc<Compiled>, String>>,
}

#[derive(Debug)]
struct Compiled {
    program: Program,
    /// The variables, each with the fields of it that are named; none where it is used as a whole.
    variables: Vec<(String, Vec<String>)>,
}

impl<'de> Deserialize<'de> for Expression {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = Located::<String>::deserialize(deserializer)?;
        Ok(Self::new(&text.value, text.at))
    }
}

impl Expression {
    /// An expression that stands at `at`.
    pub fn new(text: &str, at: Place) -> Self {
        Self {
            text: text.to_owned(),
            at,
            compiled: OnceLock::new(),
        }
    }

    fn compiled(&self) -> Result<&Arc<Compiled>, GuardFault> {
        self.compiled
            .get_or_init(|| compile(&self.text).map(Arc::new))
            .as_ref()
            .map_err(|why| self.fault(why.clone()))
    }

    fn fault(&self, why: impl Into<String>) -> GuardFault {
        GuardFault {
            text: self.text.clone(),
            at: self.at,
            why: why.into(),
        }
    }

    /// The dotted path that it names below `root`, where it is nothing else: `maxIterations` of `config.maxIterations`.
    pub fn under(&self, root: &str) -> Option<&str> {
        plain_path(&self.text)?;
        self.text.trim().strip_prefix(root)?.strip_prefix('.')
    }

    /// What the expression gives in `scope`.
    ///
    /// # Errors
    /// Where it does not compile, names something that is not there, or breaks a rule of CEL.
    pub fn evaluate(&self, scope: &dyn Scope) -> Result<Value, GuardFault> {
        self.evaluate_for(&ScopeCache::new(scope))
    }

    fn evaluate_for(&self, seen: &ScopeCache<'_>) -> Result<Value, GuardFault> {
        // Most are only that, and to compile them would take longer than all the rest of a call.
        if let Some(path) = plain_path(&self.text) {
            return follow(seen.scope, &path)
                .ok_or_else(|| self.fault("names something that is not there"));
        }
        let compiled = self.compiled()?;
        let mut context = Context::with_env(environment());
        for (name, fields) in &compiled.variables {
            if let Some(value) = seen.variable(name, fields) {
                context.add_variable_from_value(name.as_str(), value);
            }
        }
        let value = compiled
            .program
            .execute(&context)
            .map_err(|error| self.fault(error.to_string()))?;
        from_cel(&value).ok_or_else(|| self.fault("gives a value that cannot be kept"))
    }

    /// Whether the expression holds in `scope`.
    ///
    /// # Errors
    /// As [`evaluate`](Self::evaluate), and where the value is neither true nor false.
    pub fn holds(&self, scope: &dyn Scope) -> Result<bool, GuardFault> {
        self.holds_for(&ScopeCache::new(scope))
    }

    pub(crate) fn holds_for(&self, seen: &ScopeCache<'_>) -> Result<bool, GuardFault> {
        match self.evaluate_for(seen)? {
            Value::Bool(holds) => Ok(holds),
            other => Err(self.fault(format!("gives {other}, not true or false"))),
        }
    }

    /// The dotted paths that the expression names, such as `tests.failed`.
    ///
    /// # Errors
    /// Where it does not compile.
    pub fn paths(&self) -> Result<BTreeSet<Vec<String>>, GuardFault> {
        let compiled = self.compiled()?;
        let mut paths = BTreeSet::new();
        collect_paths(
            compiled.program.expression(),
            &mut BTreeSet::new(),
            &mut paths,
        );
        Ok(paths)
    }
}

fn environment() -> Arc<Env> {
    static STANDARD: OnceLock<Arc<Env>> = OnceLock::new();
    Arc::clone(STANDARD.get_or_init(|| Arc::new(Env::stdlib())))
}

/// Compiles within the bounds, or says why not.
fn compile(text: &str) -> Result<Compiled, String> {
    bounds::of_text(text)?;
    let finish = |text: &str| -> Result<Compiled, String> {
        let program = Program::compile(text).map_err(|errors| {
            errors
                .to_string()
                .lines()
                .next()
                .unwrap_or("does not parse")
                .to_owned()
        })?;
        bounds::of_tree(program.expression())?;
        let mut paths = BTreeSet::new();
        collect_paths(program.expression(), &mut BTreeSet::new(), &mut paths);
        let mut variables: Vec<(String, Vec<String>)> = program
            .references()
            .variables()
            .into_iter()
            .map(|name| (name.to_owned(), fields_of(name, &paths)))
            .collect();
        variables.sort_unstable();
        Ok(Compiled { program, variables })
    };
    // Short and flat needs no stack of its own; the rest gets one that holds the bound many times.
    if text.len() <= 160 && bounds::depth(text) <= 4 {
        return finish(text);
    }
    let text = text.to_owned();
    std::thread::Builder::new()
        .stack_size(64 << 20)
        .spawn(move || finish(&text))
        .map_err(|error| format!("could not be compiled: {error}"))?
        .join()
        .unwrap_or_else(|_| Err("could not be compiled".to_owned()))
}

/// The fields of a variable that an expression names; none where it uses the whole of it.
fn fields_of(name: &str, paths: &BTreeSet<Vec<String>>) -> Vec<String> {
    let of_it: Vec<&Vec<String>> = paths.iter().filter(|path| path[0] == name).collect();
    if of_it.iter().any(|path| path.len() < 2) {
        return Vec::new();
    }
    of_it.iter().map(|path| path[1].clone()).collect()
}

/// The part of a variable that an expression names: what a reader found may be long, and is not converted in vain.
fn named(value: Value, fields: &[String]) -> Value {
    match value {
        Value::Object(mut map) if !fields.is_empty() && map.len() > fields.len() => {
            map.retain(|name, _| fields.contains(name));
            Value::Object(map)
        }
        other => other,
    }
}

/// What CEL keeps for itself of what looks like a name ([its grammar][1], `RESERVED`, and the literals).
///
/// [1]: https://github.com/google/cel-spec/blob/master/doc/langdef.md#syntax
const RESERVED: &str = "as break const continue else false for function if import in let loop namespace null package return \
                        true var void while";

/// The dotted path that a text is, where it is nothing else.
fn plain_path(text: &str) -> Option<Vec<String>> {
    let is_name = |name: &str| {
        let mut chars = name.chars();
        chars
            .next()
            .is_some_and(|c| c.is_ascii_alphabetic() || c == '_')
            && chars.all(|c| c.is_ascii_alphanumeric() || c == '_')
            && RESERVED.split(' ').all(|reserved| reserved != name)
    };
    let names = text.trim().split('.');
    names
        .map(|name| is_name(name).then(|| name.to_owned()))
        .collect()
}

fn named_path(expression: &IdedExpr) -> Option<Vec<String>> {
    match &expression.expr {
        Expr::Ident(name) => Some(vec![name.clone()]),
        Expr::Select(select) if !select.test => {
            let mut path = named_path(&select.operand)?;
            path.push(select.field.clone());
            Some(path)
        }
        _ => None,
    }
}

fn follow(scope: &dyn Scope, path: &[String]) -> Option<Value> {
    let (name, fields) = path.split_first()?;
    let mut value = scope.variable(name, &fields[..fields.len().min(1)])?;
    for field in fields {
        value = match value {
            Value::Object(mut map) => map.remove(field)?,
            _ => return None,
        };
    }
    Some(value)
}

fn collect_paths(
    expression: &IdedExpr,
    local: &mut BTreeSet<String>,
    paths: &mut BTreeSet<Vec<String>>,
) {
    if let Some(path) = named_path(expression) {
        if !local.contains(&path[0]) {
            paths.insert(path);
        }
        return;
    }
    match &expression.expr {
        Expr::Call(call) => {
            for part in call.target.iter().map(AsRef::as_ref).chain(&call.args) {
                collect_paths(part, local, paths);
            }
        }
        Expr::Select(select) => collect_paths(&select.operand, local, paths),
        Expr::List(list) => {
            for element in &list.elements {
                collect_paths(element, local, paths);
            }
        }
        Expr::Map(map) => {
            for entry in &map.entries {
                if let EntryExpr::MapEntry(entry) = &entry.expr {
                    collect_paths(&entry.key, local, paths);
                    collect_paths(&entry.value, local, paths);
                }
            }
        }
        Expr::Comprehension(all) => {
            collect_paths(&all.iter_range, local, paths);
            let mut inner = local.clone();
            inner.insert(all.iter_var.clone());
            inner.extend(all.iter_var2.clone());
            inner.insert(all.accu_var.clone());
            for part in [&all.accu_init, &all.loop_cond, &all.loop_step, &all.result] {
                collect_paths(part, &mut inner, paths);
            }
        }
        _ => {}
    }
}

fn to_cel(value: &Value) -> Cel {
    match value {
        Value::Null => Cel::Null,
        Value::Bool(value) => Cel::Bool(*value),
        Value::Number(number) => number
            .as_i64()
            .map_or_else(|| Cel::Float(number.as_f64().unwrap_or(f64::NAN)), Cel::Int),
        Value::String(text) => Cel::String(Arc::new(text.clone())),
        Value::Array(all) => Cel::List(Arc::new(all.iter().map(to_cel).collect())),
        Value::Object(map) => Cel::Map(CelMap {
            map: Arc::new(
                map.iter()
                    .map(|(key, value)| (Key::String(Arc::new(key.clone())), to_cel(value)))
                    .collect(),
            ),
        }),
    }
}

fn from_cel(value: &Cel) -> Option<Value> {
    Some(match value {
        Cel::Null => Value::Null,
        Cel::Bool(value) => Value::from(*value),
        Cel::Int(value) => Value::from(*value),
        Cel::UInt(value) => Value::from(i64::try_from(*value).ok()?),
        // What is no number cannot be written down.
        Cel::Float(value) => Value::Number(serde_json::Number::from_f64(*value)?),
        Cel::String(text) => Value::from(text.as_str()),
        Cel::List(all) => Value::Array(all.iter().map(from_cel).collect::<Option<_>>()?),
        Cel::Map(map) => {
            let mut entries: Vec<(String, Value)> = map
                .map
                .iter()
                .map(|(key, value)| match key {
                    Key::String(key) => Some((key.as_str().to_owned(), from_cel(value)?)),
                    _ => None,
                })
                .collect::<Option<_>>()?;
            // The library's maps have no order; a journal must not depend on a hash seed.
            entries.sort_by(|a, b| a.0.cmp(&b.0));
            Value::Object(entries.into_iter().collect())
        }
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_known_without_compiling_it() {
        for text in ["tests", "tests.failed", " a.b_1.C ", "_", "types.input"] {
            let compiled = compile(text).unwrap();
            let path = named_path(compiled.program.expression());
            assert!(path.is_some(), "{text}");
            assert_eq!(plain_path(text), path, "{text}");
        }
        for text in [
            "", ".", "a.", ".a", "a..b", "1", "a.1", "1.5", "a.b()", "has(a.b)", "a b", "a[0]",
            "ä.b",
        ] {
            assert_eq!(plain_path(text), None, "{text}");
        }
        for word in RESERVED.split(' ') {
            assert_eq!(plain_path(word), None, "{word}");
        }
    }

    #[test]
    fn hostile_nesting_is_refused_not_fatal() {
        for text in [
            "(".repeat(500),
            format!("{}1{}", "(".repeat(400), ")".repeat(400)),
            "!".repeat(1000),
            format!("{}true", "!".repeat(900)),
            format!("a{}", ".b".repeat(500)),
            "true?1:".repeat(140) + "1",
            "[".repeat(900),
            "-".repeat(1000) + "1",
            "x".repeat(5000),
            format!("{}1", "1+".repeat(500)),
            format!("{}true", "true&&".repeat(160)),
            format!("{}a", "a||".repeat(300)),
            "a".to_owned() + &"[0]".repeat(300),
            "'unclosed".to_owned(),
            String::new(),
        ] {
            // Either a value or a fault; what matters is that the process lives.
            let _ = Expression::new(&text, Place::default()).evaluate(&Map::new());
        }
    }

    #[test]
    fn paths_leave_out_what_a_comprehension_binds() {
        let text = "tests.files.exists(f, f == tests.name) || run.paused == ''";
        let paths = Expression::new(text, Place::default()).paths().unwrap();
        let dotted: Vec<String> = paths.iter().map(|path| path.join(".")).collect();
        assert_eq!(dotted, ["run.paused", "tests.files", "tests.name"]);
    }
}
