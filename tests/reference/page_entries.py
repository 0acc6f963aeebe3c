"""The entries of a page of the reference: what each name in code type means, and what is wrong with it.

An entry is a name or a call in code type: in any cell of a table, and in prose if it is a call. A name is looked up in
the modules that the page names: those of the table's head first, then those of the heading, then all others. `.name`
is a member of the class that the row names, or the last row before it that names a class.
"""

import ast
import dataclasses
import importlib
import inspect
import operator
import re
from collections.abc import Iterator
from fractions import Fraction
from types import ModuleType
from typing import Any

CALL = re.compile(r"(?P<name>\.?[A-Za-z_][\w.]*)\((?P<arguments>.*)\)$")
NAME = re.compile(r"\.?[A-Za-z_][\w.]*$")
_CODE = re.compile(r"`([^`]+)`")
# A table whose rows are not names of the room: its first heading starts with one of these words.
OPTIONS, VALUES = "Option", "Value"


@dataclasses.dataclass(frozen=True)
class Entry:
    """A name or a call on a line of a page. `modules` says where to look for it, `owner` whose member it is."""

    line: int
    code: str
    listed: bool
    modules: tuple[ModuleType, ...]
    owner: Any = None

    @property
    def name(self) -> str:
        called = CALL.match(self.code)
        return called["name"] if called else self.code

    @property
    def arguments(self) -> str | None:
        called = CALL.match(self.code)
        return called["arguments"] if called else None


class UnknownNameError(Exception):
    """The page names something that does not exist."""


def entries_of(page: str) -> Iterator[Entry]:
    """Yield the entries of a page, in order."""
    everywhere = modules_in(_without_blocks(page)) + _imported(page)
    heading: tuple[ModuleType, ...] = ()
    head: tuple[ModuleType, ...] = ()
    kind, owner, in_table = "", None, False
    for number, line in enumerate(_without_blocks(page).split("\n"), 1):
        if not line.startswith("|"):
            in_table = False
            heading = modules_in(line) if line.startswith("#") else heading
            for code in _CODE.findall(line):
                if CALL.match(code):
                    yield Entry(number, code, listed=False, modules=heading + everywhere)
            continue
        cells = cells_of(line)
        if not in_table:
            in_table, head, kind = True, modules_in(line), cells[0]
            owner = _owner_in(kind, Entry(number, "", True, head + heading + everywhere))
            continue
        for place, cell in enumerate(cells):
            for code in _CODE.findall(cell.replace(r"\|", "|")):
                first = place == 0 and not kind.startswith((OPTIONS, VALUES))
                if not (CALL.match(code) or (first and NAME.match(code)) or re.match(r"\.[a-z]\w*$", code)):
                    continue
                entry = Entry(number, code, first, head + heading + everywhere, owner)
                yield entry
                if first and not code.startswith("."):
                    owner = _class_of(entry) or owner


def cells_of(line: str) -> list[str]:
    """Return the cells of a line of a table. A bar in code type belongs to its cell if it is escaped."""
    return [cell.strip() for cell in re.split(r"(?<!\\)\|", line.strip())[1:-1]]


def modules_in(text: str) -> tuple[ModuleType, ...]:
    """Return the modules that a text names in code type, by their full names, in order."""
    names = [name for code in _CODE.findall(text) for name in re.findall(r"^thresher(?:\.\w+)*", code)]
    modules: dict[str, ModuleType] = {}
    for name in names:
        parts = name.split(".")
        known = (".".join(parts[:count]) for count in range(len(parts), 1, -1))
        module = next((module for part in known if (module := _module(part)) is not None), None)
        if module is not None:
            modules[module.__name__] = module
    return tuple(modules.values())


def unknown_paths(page: str) -> list[str]:
    """Return the full names in code type, such as `thresher.noise.tail`, that name nothing."""
    paths = {code for code in _CODE.findall(_without_blocks(page)) if re.fullmatch(r"thresher(\.\w+)+", code)}
    return sorted(path for path in paths - {"thresher.toml"} if problem_of(Entry(0, path, False, ())))


def member_of(entry: Entry) -> Any:
    """Return what the entry names."""
    name = entry.name
    if name.startswith("."):
        if entry.owner is None:
            raise UnknownNameError(f"{entry.code}: no row above it names a class")
        return _descended(entry.owner, name[1:].split("."), entry)
    if name.startswith("thresher."):
        module, parts = _longest(name)
        return _descended(module, parts, entry)
    first, *rest = name.split(".")
    for module in entry.modules:
        member = getattr(module, first, None)
        member = _module(f"{module.__name__}.{first}") if member is None else member
        if not rest and isinstance(member, ModuleType):
            # A function has the name of its module: a page means the function.
            member = getattr(member, first, None)
        if member is not None:
            return _descended(member, rest, entry)
    places = ", ".join(dict.fromkeys(module.__name__ for module in entry.modules)) or "no module"
    raise UnknownNameError(f"{entry.code}: there is no {name} in {places}")


def problem_of(entry: Entry) -> str:
    """Return what is wrong with an entry; nothing if it is right. `...` at the end stands for parameters left out."""
    try:
        member = member_of(entry)
    except UnknownNameError as unknown:
        return str(unknown)
    if entry.arguments is None:
        return ""
    if not callable(member):
        return f"{entry.code}: it is not called"
    is_method = inspect.isfunction(member) and (entry.name.startswith(".") or _is_of_class(entry))
    expected = list(inspect.signature(member).parameters.values())[int(is_method and not _is_static(entry)) :]
    arguments = re.sub(r",?\s*(\.\.\.|…)$", "", entry.arguments)
    try:
        written = _parameters(arguments, member)
    except (SyntaxError, ValueError, NameError) as error:
        return f"{entry.code}: it is not a signature ({error})"
    shown = [_fact(parameter) for parameter in _with_factories(expected, member)]
    if arguments != entry.arguments:
        shown = shown[: len(written)]
    return "" if _alike(written, shown) else f"{entry.code}: the signature is ({signature_text(member, is_method)})"


def is_abbreviated(entry: Entry) -> bool:
    """Whether the entry leaves parameters out."""
    return entry.arguments is not None and entry.arguments.rstrip().endswith(("...", "…"))


def signature_text(member: Any, is_method: bool = False) -> str:
    """Return the parameters of a callable as a page writes them."""
    parameters = list(inspect.signature(member).parameters.values())[int(is_method) :]
    plain = [parameter.replace(annotation=parameter.empty) for parameter in parameters]
    return str(inspect.Signature(plain))[1:-1].replace(" -> None", "")


def _parameters(arguments: str, member: Any) -> list[tuple[str, Any, Any]]:
    """Return name, kind and default of each parameter that a page writes."""
    lambda_ = ast.parse(f"lambda {arguments}: 0", mode="eval").body
    assert isinstance(lambda_, ast.Lambda)
    found, scope = lambda_.args, _scope_of(member)
    kinds = inspect.Parameter
    ordered = [(item, kinds.POSITIONAL_ONLY) for item in found.posonlyargs]
    ordered += [(item, kinds.POSITIONAL_OR_KEYWORD) for item in found.args]
    defaults: list[ast.expr | None] = [None] * (len(ordered) - len(found.defaults)) + list(found.defaults)
    parameters = [
        (item.arg, kind, _value(default, scope)) for (item, kind), default in zip(ordered, defaults, strict=True)
    ]
    if found.vararg:
        parameters.append((found.vararg.arg, kinds.VAR_POSITIONAL, kinds.empty))
    for item, default in zip(found.kwonlyargs, found.kw_defaults, strict=True):
        parameters.append((item.arg, kinds.KEYWORD_ONLY, _value(default, scope)))
    if found.kwarg:
        parameters.append((found.kwarg.arg, kinds.VAR_KEYWORD, kinds.empty))
    return parameters


def _value(node: ast.expr | None, scope: dict[str, Any]) -> Any:
    """Return the value of a default. A quotient of whole numbers is exact; a name is one of the function's module."""
    if node is None:
        return inspect.Parameter.empty
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div):
        return operator.truediv(Fraction(ast.literal_eval(node.left)), Fraction(ast.literal_eval(node.right)))
    try:
        return ast.literal_eval(node)
    except ValueError:
        return eval(compile(ast.Expression(node), "default", "eval"), scope)  # noqa: S307 - text of our own pages


def _fact(parameter: inspect.Parameter) -> tuple[str, Any, Any]:
    return parameter.name, parameter.kind, parameter.default


def _with_factories(parameters: list[inspect.Parameter], member: Any) -> list[inspect.Parameter]:
    """Put the default of a dataclass in place of what makes it."""
    made = {
        field.name: field.default_factory()
        for field in (dataclasses.fields(member) if dataclasses.is_dataclass(member) else ())
        if field.default_factory is not dataclasses.MISSING
    }
    return [item.replace(default=made[item.name]) if item.name in made else item for item in parameters]


def _alike(written: list[tuple[str, Any, Any]], shown: list[tuple[str, Any, Any]]) -> bool:
    """Compare names, kinds and defaults. True is not 1."""
    if [(name, kind) for name, kind, _ in written] != [(name, kind) for name, kind, _ in shown]:
        return False
    return all(_same_default(here, there) for (_, _, here), (_, _, there) in zip(written, shown, strict=True))


def _same_default(here: Any, there: Any) -> bool:
    codes = [getattr(default, "__code__", None) for default in (here, there)]
    if here is there or None not in codes:
        return here is there or codes[0].co_code == codes[1].co_code
    return isinstance(here, bool) == isinstance(there, bool) and bool(here == there)


def _scope_of(member: Any) -> dict[str, Any]:
    module = importlib.import_module(inspect.unwrap(member).__module__)
    return dict(vars(module))


def _descended(member: Any, names: list[str], entry: Entry) -> Any:
    """Return the member of a member. What a class sets in `__init__` or declares without a default counts as well."""
    for name in names:
        module = _module(f"{member.__name__}.{name}") if isinstance(member, ModuleType) else None
        if hasattr(member, name):
            member = inspect.getattr_static(member, name) if inspect.isclass(member) else getattr(member, name)
            member = member.__func__.__get__(None, object) if isinstance(member, classmethod) else member
            member = member.__func__ if isinstance(member, staticmethod) else member
        elif module is not None:
            member = module
        elif inspect.isclass(member) and name in _instance_names(member):
            return None
        else:
            raise UnknownNameError(f"{entry.code}: {getattr(member, '__name__', member)} has no member {name}")
    return member


def _instance_names(kind: type) -> set[str]:
    """Return what instances of a class have beyond its members."""
    names: set[str] = set()
    for base in kind.__mro__[:-1]:
        names |= set(getattr(base, "__annotations__", {}))
        if base.__module__.startswith("thresher"):
            names |= set(re.findall(r"\bself\.([a-z]\w*)", inspect.getsource(base)))
    return names


def holder_of(entry: Entry) -> Any:
    """Return the class whose member an entry names; None if it is not a member of a class."""
    if entry.name.startswith("."):
        return entry.owner
    return _class_of(dataclasses.replace(entry, code=entry.name.rpartition(".")[0])) if "." in entry.name else None


def _class_of(entry: Entry) -> Any:
    """Return the class that an entry names, or that holds what it names."""
    try:
        member = member_of(entry)
        if inspect.isclass(member):
            return member
        holder = member_of(dataclasses.replace(entry, code=entry.name.rpartition(".")[0]))
    except (UnknownNameError, ValueError):
        return None
    return holder if inspect.isclass(holder) else None


def _owner_in(heading: str, entry: Entry) -> Any:
    """Return the class that the head of a table names, as in "Of `Verdicts`"."""
    (code,) = _CODE.findall(heading) if heading.startswith("Of ") else ("",)
    return _class_of(dataclasses.replace(entry, code=code)) if code else None


def _is_of_class(entry: Entry) -> bool:
    return "." in entry.name and _class_of(entry) is not None


def _is_static(entry: Entry) -> bool:
    holder = entry.owner if entry.name.startswith(".") else _class_of(entry)
    return isinstance(inspect.getattr_static(holder, entry.name.rpartition(".")[2]), staticmethod)


def _module(name: str) -> ModuleType | None:
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError:
        return None


def _longest(name: str) -> tuple[ModuleType, list[str]]:
    """Return the longest part of a full name that is a module, and the names inside it."""
    parts = name.split(".")
    for count in range(len(parts), 0, -1):
        module = _module(".".join(parts[:count]))
        if module is not None:
            return module, parts[count:]
    raise UnknownNameError(f"{name}: there is no such module")


def _without_blocks(page: str) -> str:
    """Return a page with empty lines for its blocks of code, so that lines keep their numbers."""
    return re.sub(r"```.*?```", lambda block: "\n" * block[0].count("\n"), page, flags=re.DOTALL)


def _imported(page: str) -> tuple[ModuleType, ...]:
    """Return the modules from which the page's examples import."""
    names = re.findall(r"^>>> from (thresher[\w.]*) import", page, re.MULTILINE)
    return tuple(module for name in dict.fromkeys(names) if (module := _module(name)) is not None)
