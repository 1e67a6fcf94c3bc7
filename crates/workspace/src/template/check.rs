//! The proof of a template: that it uses nothing but what there is, and names nothing but what it is given.
//!
//! The template is read by the engine's own parser, so that what is proved is what will run.

use std::thread;

use minijinja::machinery::ast::{BinOpKind, CallArg, Expr, ForLoop, Stmt};
use minijinja::machinery::{Span, Token, parse, tokenize};
use minijinja::syntax::SyntaxConfig;

use super::filters;
use super::variables::Shape;
use text::nearest;

/// How many tags with statements a template may hold: they may stand in one another.
const MOST_TAGS: usize = 1_000;
/// How many words and signs a tag may hold: they may stand in one another, too.
const MOST_TOKENS: usize = 200;
/// How many templates are gone through for one prompt.
const MOST_INCLUDES: usize = 200;
/// Where a slice may end: characters of a text, or values of a list.
const MOST_SLICED: usize = 1_000;
/// Enough for the deepest template that the limits above let through.
const STACK: usize = 32 * 1024 * 1024;

const STATEMENTS: &str = "templates know `if`, `for`, `set`, `include`, `raw` and comments";

/// What is wrong with a template.
#[derive(Debug)]
pub(crate) struct Fault {
    /// The template.
    pub(crate) file: String,
    /// Line, from 1.
    pub(crate) line: u32,
    /// Column, from 1.
    pub(crate) column: u32,
    /// What is wrong.
    pub(crate) message: String,
    /// What to do about it.
    pub(crate) help: String,
}

/// Proves a template and all that it includes. `text` gives those that there are; the names of all that were gone through
/// are returned.
pub(crate) fn check<'a>(
    name: &str,
    text: &(dyn Fn(&str) -> Result<Option<&'a str>, String> + Sync),
    variables: &Shape,
) -> Result<Vec<String>, Fault> {
    let mut proof = Proof {
        text,
        seen: Vec::new(),
        open: Vec::new(),
        left: MOST_INCLUDES,
    };
    let proved = |proof: &mut Proof<'a, '_>| proof.template(name, &mut Scope::new(variables), None);
    // The parser and what follows it call themselves for what stands in one another.
    let done = thread::scope(|scope| {
        thread::Builder::new()
            .stack_size(STACK)
            .spawn_scoped(scope, || proved(&mut proof))
            .map(thread::ScopedJoinHandle::join)
    });
    let fault = |message: &str| Fault {
        file: name.to_owned(),
        line: 0,
        column: 0,
        message: message.to_owned(),
        help: "try again; if it persists, write the template more simply".to_owned(),
    };
    match done {
        Ok(Ok(result)) => result.map(|()| proof.seen),
        Ok(Err(_)) => Err(fault("the template cannot be read: the parser gave up")),
        Err(error) => Err(fault(&format!(
            "no thread for reading the template: {error}"
        ))),
    }
}

struct Proof<'a, 't> {
    text: &'t (dyn Fn(&str) -> Result<Option<&'a str>, String> + Sync),
    /// Every template that was gone through.
    seen: Vec<String>,
    /// Those that are being gone through.
    open: Vec<String>,
    left: usize,
}

/// The names that can be used, the nearest last.
struct Scope {
    names: Vec<(String, Shape)>,
}

impl Scope {
    fn new(variables: &Shape) -> Self {
        let names = match variables {
            Shape::Record(names) => names.clone(),
            _ => Vec::new(),
        };
        Self { names }
    }

    fn get(&self, name: &str) -> Option<&Shape> {
        let found = self.names.iter().rev().find(|(known, _)| known == name);
        found.map(|(_, shape)| shape)
    }
}

/// A place, before it is known in which file.
type Flaw = (Span, String, String);

fn flaw(span: Span, message: impl Into<String>, help: impl Into<String>) -> Flaw {
    (span, message.into(), help.into())
}

impl Proof<'_, '_> {
    fn template(&mut self, name: &str, scope: &mut Scope, from: Option<&str>) -> Result<(), Fault> {
        let whole = |message: String, help: &str| Fault {
            file: from.unwrap_or(name).to_owned(),
            line: 0,
            column: 0,
            message,
            help: help.to_owned(),
        };
        let text = (self.text)(name)
            .map_err(|message| whole(message, "write it as UTF-8 text of at most 256 KiB"))?
            .ok_or_else(|| {
                whole(
                    format!("there is no template {name} in the profile's folder"),
                    "name a file of the folder, by its path below it",
                )
            })?;
        self.left = self.left.checked_sub(1).ok_or_else(|| {
            whole(
                format!("more than {MOST_INCLUDES} templates are included for one prompt"),
                "include less",
            )
        })?;
        if !self.seen.iter().any(|seen| seen == name) {
            self.seen.push(name.to_owned());
        }
        let located = |(span, message, help): Flaw| Fault {
            file: name.to_owned(),
            line: u32::from(span.start_line).max(1),
            column: u32::from(span.start_col) + 1,
            message,
            help,
        };
        let syntax = |error: &minijinja::Error| Fault {
            file: name.to_owned(),
            line: error
                .line()
                .and_then(|line| u32::try_from(line).ok())
                .unwrap_or(1),
            column: 1,
            message: error
                .detail()
                .map_or_else(|| error.kind().to_string(), str::to_owned),
            help: STATEMENTS.to_owned(),
        };
        measure(text).map_err(|error| match error {
            Measured::Flaw(found) => located(found),
            Measured::Syntax(error) => syntax(&error),
        })?;
        let parsed = parse(text, name, SyntaxConfig::default()).map_err(|error| syntax(&error))?;
        let Stmt::Template(template) = &parsed else {
            return Err(whole("the template cannot be read".to_owned(), STATEMENTS));
        };
        self.open.push(name.to_owned());
        let outcome = self.statements(&template.children, scope);
        self.open.pop();
        outcome.map_err(|found| match found {
            StatementFault::Here(found) => located(found),
            StatementFault::Elsewhere(fault) => fault,
        })
    }

    fn statements(&mut self, all: &[Stmt<'_>], scope: &mut Scope) -> Result<(), StatementFault> {
        all.iter()
            .try_for_each(|statement| self.statement(statement, scope))
    }

    fn statement(&mut self, statement: &Stmt<'_>, scope: &mut Scope) -> Result<(), StatementFault> {
        match statement {
            Stmt::EmitRaw(_) => Ok(()),
            Stmt::EmitExpr(emit) => Ok(expression(&emit.expr, scope).map(drop)?),
            Stmt::IfCond(cond) => {
                expression(&cond.expr, scope)?;
                self.statements(&cond.true_body, scope)?;
                self.statements(&cond.false_body, scope)
            }
            Stmt::ForLoop(each) => self.for_loop(each, each.span(), scope),
            Stmt::Set(set) => {
                let shape = expression(&set.expr, scope)?;
                bind(&set.target, set.span(), shape, scope)?;
                Ok(())
            }
            Stmt::Include(include) => {
                let span = include.span();
                let name = match &include.name {
                    Expr::Const(name) => name.value.as_str().map(str::to_owned),
                    _ => None,
                };
                let name = name.ok_or_else(|| {
                    flaw(
                        span,
                        "`include` takes one file, named in quotes",
                        "write `{% include \"FILE\" %}`",
                    )
                })?;
                if self.open.contains(&name) {
                    return Err(flaw(
                        span,
                        format!("{name} includes itself, by way of {}", self.open.join(", ")),
                        "take one of the includes away",
                    )
                    .into());
                }
                let is_missing = (self.text)(&name).is_ok_and(|text| text.is_none());
                if is_missing {
                    if include.ignore_missing {
                        return Ok(());
                    }
                    return Err(flaw(
                        span,
                        format!("there is no {name} to include"),
                        "name a file of the profile's folder, by its path below it; outside of a profile write it out here",
                    )
                    .into());
                }
                let inner = &mut Scope {
                    names: scope.names.clone(),
                };
                let file = self.open.last().cloned();
                self.template(&name, inner, file.as_deref())
                    .map_err(StatementFault::Elsewhere)
            }
            Stmt::Template(other) => Err(unknown_statement(other.span())),
            Stmt::WithBlock(other) => Err(unknown_statement(other.span())),
            Stmt::SetBlock(other) => Err(unknown_statement(other.span())),
            Stmt::AutoEscape(other) => Err(unknown_statement(other.span())),
            Stmt::FilterBlock(other) => Err(unknown_statement(other.span())),
            Stmt::Block(other) => Err(unknown_statement(other.span())),
            Stmt::Import(other) => Err(unknown_statement(other.span())),
            Stmt::FromImport(other) => Err(unknown_statement(other.span())),
            Stmt::Extends(other) => Err(unknown_statement(other.span())),
            Stmt::Do(other) => Err(unknown_statement(other.span())),
            // Statements that other features of the engine add.
            #[allow(unreachable_patterns)]
            _ => Err(unknown_statement(Span::default())),
        }
    }

    fn for_loop(
        &mut self,
        each: &ForLoop<'_>,
        span: Span,
        scope: &mut Scope,
    ) -> Result<(), StatementFault> {
        if each.recursive {
            return Err(flaw(span, "a loop cannot be recursive here", STATEMENTS).into());
        }
        let element = match expression(&each.iter, scope)? {
            Shape::List(element) => *element,
            Shape::Plain | Shape::Record(_) | Shape::Unknown => Shape::Unknown,
        };
        let outside = scope.names.len();
        bind(&each.target, span, element, scope)?;
        if let Some(filter) = &each.filter_expr {
            expression(filter, scope)?;
        }
        scope.names.push(("loop".to_owned(), Shape::of_loop()));
        self.statements(&each.body, scope)?;
        scope.names.truncate(outside);
        self.statements(&each.else_body, scope)
    }
}

/// A flaw of this template, or the fault of one that it includes.
enum StatementFault {
    Here(Flaw),
    Elsewhere(Fault),
}

impl From<Flaw> for StatementFault {
    fn from(flaw: Flaw) -> Self {
        Self::Here(flaw)
    }
}

fn unknown_statement(span: Span) -> StatementFault {
    flaw(span, "this statement is not for templates", STATEMENTS).into()
}

enum Measured {
    Flaw(Flaw),
    Syntax(minijinja::Error),
}

/// Refuses what would make the parser go too deep, before it does.
fn measure(text: &str) -> Result<(), Measured> {
    let (mut tags, mut tokens) = (0_usize, 0_usize);
    for token in tokenize(text, false, SyntaxConfig::default()) {
        let (token, span) = token.map_err(Measured::Syntax)?;
        match token {
            Token::BlockStart => {
                tags += 1;
                tokens = 0;
            }
            Token::VariableStart | Token::BlockEnd | Token::VariableEnd => tokens = 0,
            _ => tokens += 1,
        }
        let message = if tags > MOST_TAGS {
            format!("the template has more than {MOST_TAGS} tags with statements")
        } else if tokens > MOST_TOKENS {
            format!("the tag has more than {MOST_TOKENS} words and signs")
        } else {
            continue;
        };
        return Err(Measured::Flaw(flaw(
            span,
            message,
            "write the template more simply, or split it with `include`",
        )));
    }
    Ok(())
}

/// Gives a name, or several, to a value.
fn bind(target: &Expr<'_>, span: Span, shape: Shape, scope: &mut Scope) -> Result<(), Flaw> {
    match target {
        Expr::Var(name) => scope.names.push((name.id.to_owned(), shape)),
        Expr::List(names) => names
            .items
            .iter()
            .try_for_each(|name| bind(name, span, Shape::Unknown, scope))?,
        Expr::Tuple(names) => names
            .items
            .iter()
            .try_for_each(|name| bind(name, span, Shape::Unknown, scope))?,
        _ => {
            return Err(flaw(
                span,
                "only a name can be given a value",
                "write `{% set NAME = … %}`",
            ));
        }
    }
    Ok(())
}

/// Proves an expression, and tells what is known of its value.
fn expression(expr: &Expr<'_>, scope: &Scope) -> Result<Shape, Flaw> {
    match expr {
        Expr::Const(_) => Ok(Shape::Plain),
        Expr::Var(name) => scope.get(name.id).cloned().ok_or_else(|| {
            let known = scope.names.iter().map(|(known, _)| known.as_str());
            unknown_name(name.span(), name.id, known)
        }),
        Expr::GetAttr(get) => {
            let below = expression(&get.expr, scope)?;
            field(&below, get.name, get.span())
        }
        Expr::GetItem(get) => {
            let below = expression(&get.expr, scope)?;
            expression(&get.subscript_expr, scope)?;
            match (&below, &get.subscript_expr) {
                (Shape::Record(_), Expr::Const(name)) => match name.value.as_str() {
                    Some(name) => field(&below, name, get.span()),
                    None => Ok(Shape::Unknown),
                },
                (Shape::List(element), _) => Ok(*element.clone()),
                _ => Ok(Shape::Unknown),
            }
        }
        Expr::UnaryOp(op) => expression(&op.expr, scope).map(|_| Shape::Plain),
        Expr::BinOp(op) => {
            let sign = match op.op {
                BinOpKind::Add => Some("+"),
                BinOpKind::Mul => Some("*"),
                BinOpKind::Pow => Some("**"),
                BinOpKind::Concat => Some("~"),
                BinOpKind::Eq
                | BinOpKind::Ne
                | BinOpKind::Lt
                | BinOpKind::Lte
                | BinOpKind::Gt
                | BinOpKind::Gte
                | BinOpKind::ScAnd
                | BinOpKind::ScOr
                | BinOpKind::Sub
                | BinOpKind::Div
                | BinOpKind::FloorDiv
                | BinOpKind::Rem
                | BinOpKind::In => None,
            };
            if let Some(sign) = sign {
                return Err(flaw(
                    expr.span(),
                    format!("there is no `{sign}` in templates"),
                    "write the parts one after the other, `{{ a }}{{ b }}`; count with `loop.index`",
                ));
            }
            let left = expression(&op.left, scope)?;
            let right = expression(&op.right, scope)?;
            Ok(match op.op {
                BinOpKind::ScAnd => right,
                BinOpKind::ScOr => left,
                _ => Shape::Plain,
            })
        }
        Expr::Compare(compare) => {
            expression(&compare.expr, scope)?;
            for op in &compare.ops {
                expression(&op.expr, scope)?;
            }
            Ok(Shape::Plain)
        }
        Expr::IfExpr(choice) => {
            expression(&choice.test_expr, scope)?;
            if let Some(other) = &choice.false_expr {
                expression(other, scope)?;
            }
            expression(&choice.true_expr, scope)
        }
        Expr::Filter(filter) => {
            if !filters::NAMES.contains(&filter.name) {
                return Err(flaw(
                    expr.span(),
                    format!("there is no filter `{}`", filter.name),
                    help_for(filter.name, filters::NAMES.iter().copied()),
                ));
            }
            arguments(&filter.args, expr.span(), scope)?;
            let value = match &filter.expr {
                Some(value) => expression(value, scope)?,
                None => Shape::Unknown,
            };
            Ok(match (filter.name, value) {
                ("first" | "last", Shape::List(element)) => *element,
                ("default" | "d", shape) => shape,
                ("lines", _) => Shape::List(Box::new(Shape::Plain)),
                ("first" | "last", _) => Shape::Unknown,
                _ => Shape::Plain,
            })
        }
        Expr::Test(test) => {
            if !filters::TESTS.contains(&test.name) {
                return Err(flaw(
                    expr.span(),
                    format!("there is no test `is {}`", test.name),
                    help_for(test.name, filters::TESTS.iter().copied()),
                ));
            }
            arguments(&test.args, expr.span(), scope)?;
            expression(&test.expr, scope).map(|_| Shape::Plain)
        }
        Expr::List(list) if list.items.iter().all(|item| matches!(item, Expr::Const(_))) => {
            Ok(Shape::List(Box::new(Shape::Plain)))
        }
        Expr::Tuple(list) if list.items.iter().all(|item| matches!(item, Expr::Const(_))) => {
            Ok(Shape::List(Box::new(Shape::Plain)))
        }
        Expr::List(_) | Expr::Tuple(_) | Expr::Map(_) => Err(flaw(
            expr.span(),
            "a list can only hold texts and numbers that stand there as they are",
            "write `[\"a\", \"b\"]`",
        )),
        Expr::Slice(slice) => {
            // What is cut off is copied, and may be kept under a name.
            let bounded = |bound: &Option<Expr<'_>>| match bound {
                Some(Expr::Const(number)) => {
                    usize::try_from(number.value.clone()).is_ok_and(|number| number <= MOST_SLICED)
                }
                Some(_) => false,
                None => true,
            };
            let has_end = slice.stop.is_some() && slice.step.is_none();
            if !has_end || !bounded(&slice.start) || !bounded(&slice.stop) {
                return Err(flaw(
                    expr.span(),
                    "a slice needs an end here, and numbers for its bounds",
                    format!("write `value[:n]`, with `n` up to {MOST_SLICED}"),
                ));
            }
            expression(&slice.expr, scope)
        }
        Expr::Call(_) => Err(flaw(
            expr.span(),
            "there are no functions in templates",
            format!("there are the filters {}", filters::NAMES.join(", ")),
        )),
    }
}

fn arguments(all: &[CallArg<'_>], span: Span, scope: &Scope) -> Result<(), Flaw> {
    for argument in all {
        match argument {
            CallArg::Pos(value) | CallArg::Kwarg(_, value) => {
                expression(value, scope)?;
            }
            CallArg::PosSplat(_) | CallArg::KwargSplat(_) => {
                return Err(flaw(
                    span,
                    "arguments cannot be spread here",
                    "write them one by one",
                ));
            }
        }
    }
    Ok(())
}

/// What is below a name.
fn field(below: &Shape, name: &str, span: Span) -> Result<Shape, Flaw> {
    match below {
        Shape::Record(fields) => fields
            .iter()
            .find(|(known, _)| known == name)
            .map(|(_, shape)| shape.clone())
            .ok_or_else(|| {
                unknown_name(span, name, fields.iter().map(|(known, _)| known.as_str()))
            }),
        Shape::Unknown => Ok(Shape::Unknown),
        Shape::Plain | Shape::List(_) => Err(flaw(
            span,
            format!("there is nothing called `{name}` below this"),
            "it is a text, a number or a list, without names of its own",
        )),
    }
}

fn unknown_name<'n>(span: Span, name: &str, known: impl Iterator<Item = &'n str>) -> Flaw {
    flaw(
        span,
        format!("`{name}` means nothing here"),
        help_for(name, known),
    )
}

fn help_for<'n>(name: &str, known: impl Iterator<Item = &'n str>) -> String {
    let known: Vec<&str> = known.collect();
    match nearest(name, known.iter().copied()) {
        Some(nearest) => format!("did you mean `{nearest}`?"),
        None if known.is_empty() => "there is nothing to name here".to_owned(),
        None => format!("there are {}", known.join(", ")),
    }
}
