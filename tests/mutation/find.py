"""Finds single-line mutations of the headers in include/ladon, by the syntax tree of libclang."""

import os
import random
import re
import subprocess
from dataclasses import dataclass

from clang import cindex
from clang.cindex import CursorKind as Kind

REPLACED = {
    "<": ["<="], "<=": ["<"], ">": [">="], ">=": [">"], "==": ["!="], "!=": ["=="],
    "+": ["-"], "-": ["+"], "*": ["/"], "/": ["*"], "%": ["/"], "&&": ["||"], "||": ["&&"], "&": ["|"], "|": ["&"],
    "<<": [">>"], ">>": ["<<"], "+=": ["-="], "-=": ["+="], "*=": ["/="], "|=": ["&="], "&=": ["|="],
}  # fmt: skip
RENAMED = {"min": "max", "max": "min"}
FUNCTIONS = (Kind.FUNCTION_DECL, Kind.FUNCTION_TEMPLATE, Kind.CXX_METHOD, Kind.CONSTRUCTOR, Kind.CONVERSION_FUNCTION)
CONSTANT = (Kind.STATIC_ASSERT, Kind.ENUM_DECL, Kind.CONCEPT_DECL, Kind.TYPE_ALIAS_DECL, Kind.REQUIRES_EXPR)
BODIES = (Kind.COMPOUND_STMT, Kind.FOR_STMT, Kind.WHILE_STMT, Kind.IF_STMT, Kind.CXX_FOR_RANGE_STMT)
STATEMENTS = (Kind.CALL_EXPR, Kind.BINARY_OPERATOR, Kind.COMPOUND_ASSIGNMENT_OPERATOR)


@dataclass(frozen=True)
class Mutant:
    """Replaces the bytes [begin, end) of `file` by `new`. `outer` is the range of the expression around these bytes."""

    file: str
    outer: tuple[int, int]
    begin: int
    end: int
    new: str
    kind: str

    def mutated(self, text):
        """Returns the source text of `outer` with the change."""
        return text[self.outer[0] : self.begin] + self.new + text[self.end : self.outer[1]]

    def line(self, text):
        return text.count("\n", 0, self.begin) + 1

    def described(self, text):
        """Returns the source lines of the mutant as one line that shows the change as [old => new]."""
        first, last = text.rfind("\n", 0, self.begin) + 1, text.find("\n", self.end)
        old = text[self.begin : self.end]
        change = f"[{old} => {self.new or 'nothing'}]"
        return re.sub(r"\s+", " ", text[first : self.begin] + change + text[self.end : last]).strip()


class Finder:
    def __init__(self, file, text):
        self.file, self.text, self.found = file, text, []

    def add(self, kind, outer, begin, end, new):
        if "#" not in self.text[outer[0] : outer[1]]:
            self.found.append(Mutant(self.file, outer, begin, end, new, kind))

    def visit(self, cursor, parent):
        """Adds the mutants of an expression, statement or declaration that is evaluated at run time."""
        begin, end = cursor.extent.start.offset, cursor.extent.end.offset
        text = self.text[begin:end]
        children = [c for c in cursor.get_children() if c.extent.end.offset > c.extent.start.offset]
        if cursor.kind in CONSTANT:
            return
        if cursor.kind == Kind.VAR_DECL:
            before_name = self.text[begin : cursor.location.offset]
            if "constexpr" in before_name:
                return
            children = [c for c in children if c.extent.start.offset > cursor.location.offset]
        elif cursor.kind in FUNCTIONS:
            if "consteval" in text[: text.find("{")]:
                return
            initialisers = cursor.kind == Kind.CONSTRUCTOR
            children = [c for c in children if c.kind == Kind.COMPOUND_STMT or (initialisers and c.kind.is_expression())]
        elif cursor.kind == Kind.LAMBDA_EXPR:
            children = [c for c in children if c.kind == Kind.COMPOUND_STMT]
        elif cursor.kind == Kind.DECL_REF_EXPR:
            return  # its children are only template arguments
        elif cursor.kind == Kind.MEMBER_REF_EXPR:
            children = children[:1]
        elif cursor.kind == Kind.IF_STMT and text.startswith("if constexpr"):
            children = children[1:]
        self.mutate(cursor, parent, begin, end, text, children)
        for child in children:
            self.visit(child, cursor)

    def mutate(self, cursor, parent, begin, end, text, children):
        kind, outer = cursor.kind, (begin, end)
        spans = [(c.extent.start.offset, c.extent.end.offset) for c in children]
        if kind in (Kind.BINARY_OPERATOR, Kind.COMPOUND_ASSIGNMENT_OPERATOR, Kind.CALL_EXPR) and len(spans) >= 2:
            left, right = min(spans), max(spans)
            between = self.text[left[1] : right[0]]
            operator = between.strip(" \n()")
            if operator in REPLACED and spans[0][0] == begin:
                at = left[1] + between.index(operator)
                for new in REPLACED[operator]:
                    self.add("operator", outer, at, at + len(operator), new)
        if kind == Kind.UNARY_OPERATOR and text[0] in "!-":
            self.add("operator", outer, begin, begin + 1, "")
        if kind == Kind.CALL_EXPR and spans:
            name = self.text[spans[0][0] : spans[0][1]]
            if name in RENAMED:
                self.add("min/max", outer, begin, begin + len(name), RENAMED[name])
            if name == "select" and len(spans) == 4:
                second, third = (self.text[b:e] for b, e in spans[2:])
                self.add("swap", outer, spans[2][0], spans[3][1], f"{third}, {second}")
        template_argument = self.text[begin - 1] == "<" or self.text[end] == ">"
        if kind == Kind.INTEGER_LITERAL and not template_argument:
            self.add("constant", outer, begin, end, f"{text} + 1")
            if text.strip("uU") != "0":
                self.add("constant", outer, begin, end, f"{text} - 1")
        if kind == Kind.FLOATING_LITERAL:
            self.add("constant", outer, begin, end, f"{text} + 1")
        if kind == Kind.CXX_BOOL_LITERAL_EXPR:
            self.add("constant", outer, begin, end, "false" if text == "true" else "true")
        if kind in (Kind.IF_STMT, Kind.CONDITIONAL_OPERATOR, Kind.WHILE_STMT) and not text.startswith("if constexpr"):
            condition = self.text[spans[0][0] : spans[0][1]]
            self.add("condition", spans[0], *spans[0], f"!({condition})")
        is_assignment = kind != Kind.CALL_EXPR and re.search(r"(?<![<>=!])=(?!=)", text)
        statement_end = self.text[end:].lstrip().startswith(";") or self.text[end] == ")"
        if kind in STATEMENTS and parent.kind in BODIES and statement_end and (kind == Kind.CALL_EXPR or is_assignment):
            if parent.kind == Kind.COMPOUND_STMT or self.text[end] == ";":
                self.add("statement", outer, begin, end, "")


def parse(include, compiler):
    """Returns the syntax tree of a translation unit that includes ladon.hpp."""
    # clang's syntax tree does not contain the arguments of the macro LADON_EXPECTS. So the text of each header gets the
    # function name ladon_expects in place of the macro. Both names have the same length, so positions in the text stay
    # valid.
    files = []
    for folder, _, names in os.walk(include):
        for name in names:
            path = os.path.join(folder, name)
            text = open(path).read()
            files.append((path, text if name == "checks.hpp" else text.replace("LADON_EXPECTS(", "ladon_expects(")))
    unit = """#include <initializer_list>
struct AnyCaller { template <class T> constexpr AnyCaller(const T&) {} constexpr AnyCaller() {} };
struct AnyValue { template <class T> constexpr AnyValue(const char*, const T&) {} };
constexpr void ladon_expects(bool, const char*, AnyCaller = {}, std::initializer_list<AnyValue> = {}) {}
#include <ladon/ladon.hpp>
"""
    verbose = subprocess.run(
        [compiler, "-xc++", "-E", "-v", "/dev/null"], capture_output=True, text=True, check=True
    ).stderr
    system = re.search(r"search starts here:\n((?: .*\n)+)End", verbose.replace('#include "..."', "")).group(1).split()
    system = [line for line in system if line.startswith("/")]
    arguments = ["-std=c++20", "-march=haswell", "-I", include, "-nostdinc", "-nostdinc++", "-D__NO_CLANG_BUILTINS"]
    for folder in system:
        arguments += ["-isystem", folder]
    return cindex.Index.create().parse("unit.cpp", arguments, [("unit.cpp", unit), *files])


def mutants(include, compiler):
    """Returns all mutants of the headers, in the order of files and positions.

    detail/target and detail/config have no mutants. detail/target only chooses between implementations that compute
    equal results. detail/config has attributes, builtins and messages.
    """
    unit = parse(include, compiler)
    errors = [str(d) for d in unit.diagnostics if d.severity >= cindex.Diagnostic.Error]
    if errors:
        raise SystemExit("\n".join(errors[:5]))
    finders = {}

    def declarations(cursor):
        for child in cursor.get_children():
            if child.location.file is None or not child.location.file.name.startswith(include):
                continue
            name = child.location.file.name
            if "/detail/target/" in name or "/detail/config/" in name:
                continue
            if child.kind in FUNCTIONS:
                finder = finders.setdefault(name, Finder(os.path.relpath(name, include), open(name).read()))
                finder.visit(child, cursor)
            elif child.kind not in CONSTANT and child.kind != Kind.VAR_DECL:
                declarations(child)

    declarations(unit.cursor)
    found = {m for finder in finders.values() for m in finder.found}
    return sorted(found, key=lambda m: (m.file, m.outer, m.begin, m.new))


def sample(all_mutants, count, seed):
    """Returns `count` mutants, spread evenly over the positions in all files."""
    if count >= len(all_mutants):
        return all_mutants
    random.seed(seed)
    step = len(all_mutants) / count
    return [all_mutants[int((i + random.random()) * step)] for i in range(count)]
