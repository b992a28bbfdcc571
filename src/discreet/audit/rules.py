"""The rules of the house: each reads one module among all others and yields what breaks it.

A rule's name is its function's, its reason the first line of its docstring.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator

from discreet.audit import layers as plan
from discreet.audit.house import House, Module, last

Rule = Callable[[House, Module], Iterator[str]]

INSIDE = {"_table", "_blurred", "_noise", "_codes", "_connection", "_spent", "_entries"}
OWNERS = ("discreet.room", "discreet.data", "discreet.privacy.budget", "discreet.baselines.exact")
LEAVING = ("os", "subprocess", "socket", "http", "urllib", "requests", "smtplib", "tempfile", "sqlite3", "mmap")
DRAWS = {"rounded_gaussian", "discrete_gaussian", "discrete_laplace", "exponential_choices", "one_sided"}
DYNAMIC = {"import_module", "__import__", "exec", "eval", "modules", "run_module", "run_path"}
STREAMS = {"SeedSequence", "PCG64", "PCG64DXSM", "MT19937", "Philox", "SFC64", "RandomState"}
GENERATORS = {"Generator", "default_rng", "Random", "SystemRandom"} | STREAMS
COROUTINES = ("collections.abc.Generator", "typing.Generator")
FLOATS = {"normal", "laplace", "exponential", "uniform", "random", "rvs", "gauss", "normalvariate", "expovariate"}
FLOATS |= {"standard_normal", "standard_exponential", "standard_cauchy", "standard_gamma", "standard_t", "randn"}
FLOATS |= {"lognormal", "multivariate_normal", "gumbel", "logistic", "triangular", "gamma", "beta", "rand"}
FLOATS |= {"random_sample", "gammavariate", "betavariate", "lognormvariate", "vonmises", "weibull", "rayleigh"}
WHOLES = {"geometric", "poisson", "binomial", "negative_binomial", "choice", "choices", "integers", "randint"}
WHOLES |= {"randrange", "getrandbits", "shuffle", "permutation", "permuted", "sample"}
SEED = ("seed", "random_state")
COPIERS = ("pickle", "cloudpickle", "dill", "marshal", "shelve", "joblib", "copy", "copyreg")
KEEPERS = {"dump", "dumps", "save", "savez", "savez_compressed", "savetxt", "tofile", "write_text", "write_bytes"}
CACHES = ("functools.cache", "functools.lru_cache", "functools.cached_property", "cachetools")


def only_the_room_evaluates_and_blurs(_house: House, module: Module) -> Iterator[str]:
    """An exact value that comes to be elsewhere was never charged."""
    if not module.within("discreet.room", *plan.AUDITORS):
        yield from sorted(module.attributes & {"evaluate", "blur"})


def nobody_reaches_into_the_room(_house: House, module: Module) -> Iterator[str]:
    """Rows and noise that others can take out of the room are not guarded by it."""
    if module.within("discreet.room", "discreet.audit.rules", *plan.AUDITORS):
        return
    own = module.within(*OWNERS)
    for node in module.everything:
        if isinstance(node, ast.Attribute) and node.attr in INSIDE and not (own and module.full(node.value) == "self"):
            yield module.full(node)
        elif isinstance(node, ast.Constant) and node.value in INSIDE:
            yield repr(node.value)


def only_noise_draws_from_entropy(_house: House, module: Module) -> Iterator[str]:
    """One place draws what privacy rests on, by exact samplers; a ledger and a choice of rows make keys."""
    if module.name not in plan.ENTROPY:
        yield from module.imported("secrets", "opendp", "os.urandom", "os.getrandom")
        yield from (n for n in module.names if last(n) in ("urandom", "getrandom", "SystemRandom"))


def choices_are_drawn_with_the_bits_of_noise(_house: House, module: Module) -> Iterator[str]:
    """A choice inverts uniform bits; nobody else may hand in others."""
    if module.name not in ("discreet.privacy.noise", "discreet.testing", *plan.LISTENERS):
        yield from (c for c in module.calls if last(c) == "invert_choice")


def only_mechanisms_ask_for_noise(_house: House, module: Module) -> Iterator[str]:
    """Noise without a stated cost is no mechanism."""
    if not module.within("discreet.privacy.mechanisms", plan.BROKEN, *plan.LISTENERS):
        yield from sorted(module.attributes & DRAWS)


def nobody_imports_the_predictable_noise(_house: House, module: Module) -> Iterator[str]:
    """Whoever knows the seed takes such noise away again."""
    yield from module.imported("discreet.testing")


def generators_are_passed_in(_house: House, module: Module) -> Iterator[str]:
    """What is drawn for simulations is drawn from a generator that the caller names."""
    if module.within(plan.BROKEN):
        return
    made = [c for c in module.calls if c.startswith(("np.random.", "numpy.random.", "random."))]
    yield from (c for c in made if c != "numpy.random.default_rng" or not module.within(*plan.SEEDED))


def nobody_brings_a_seed(_house: House, module: Module) -> Iterator[str]:
    """A seed that is fixed, used again or read off the data makes noise that can be taken away."""
    if module.within(*plan.SEEDED):
        return
    yield from (n for n in module.names if last(n) in STREAMS | set(SEED) | {"default_rng"})
    for node in module.everything:
        if isinstance(node, ast.keyword | ast.arg) and node.arg in SEED:
            yield f"{node.arg}="


def no_floating_point_noise(_house: House, module: Module) -> Iterator[str]:
    """The last digits of a floating-point variate tell what it was added to; noise here is exact and integer."""
    if module.layer in plan.NOISY:
        yield from _drawn(module, FLOATS)


def no_generators_where_noise_is_made(_house: House, module: Module) -> Iterator[str]:
    """A generator's stream can be computed from its state; privacy noise comes from the operating system."""
    if module.layer in plan.NOISY:
        yield from module.imported("random", "numpy.random")
        yield from (n for n in module.names if last(n) in GENERATORS and n not in COROUTINES)
        yield from _drawn(module, WHOLES)


def _drawn(module: Module, variates: set[str]) -> Iterator[str]:
    """Yield calls of functions with these names that come from elsewhere: from a generator, for all that is known."""
    calls = (c for c in module.calls if "." in c and last(c) in variates)
    return (c for c in calls if not c.startswith(("scipy.special.", "math.")))


def no_noise_from_hashes_or_clocks(_house: House, module: Module) -> Iterator[str]:
    """Noise that is a function of data or of the time is predictable."""
    if module.within("discreet.privacy.mechanisms", "discreet.room", "discreet.privacy.noise"):
        yield from module.imported("hashlib", "hmac", "zlib", "binascii", "time", "datetime", "uuid")
        yield from (c for c in module.calls if c == "hash")


def nothing_is_printed_or_logged_where_rows_are(_house: House, module: Module) -> Iterator[str]:
    """What is said along the way is not covered by the charge."""
    if module.layer in plan.HOLDERS or module.within("discreet.release.release"):
        yield from module.imported("logging", "warnings", "traceback", "syslog", "click")
        yield from (c for c in module.calls if c.startswith(("print", "click.", "pprint.")))
        yield from (n for n in module.names if n.startswith(("sys.std", "sys.__std")))


def rows_are_not_copied_or_kept(_house: House, module: Module) -> Iterator[str]:
    """A copy of rows, of exact answers or of a budget is guarded by nobody."""
    if module.layer in plan.HOLDERS:
        yield from module.imported(*COPIERS)
        yield from (c for c in module.calls if last(c) in KEEPERS)
    if module.layer in plan.HOLDERS and not (module.layer == "data" and not module.within(*plan.MADE_UP)):
        yield from module.imported(*LEAVING)
        yield from (c for c in module.calls if c == "open" or last(c).startswith(("to_csv", "to_parquet", "to_sql")))


def no_cache_holds_data(_house: House, module: Module) -> Iterator[str]:
    """What a cache keeps outlives the room, and is handed out without a charge."""
    if module.layer in ("room", "data"):
        yield from module.imported(*CACHES)
        yield from (n for n in module.names if n in CACHES)
    if module.layer in plan.HOLDERS:
        for node in module.everything:
            if isinstance(node, ast.Global):
                yield f"global {', '.join(node.names)}"
            elif isinstance(node, ast.FunctionDef) and any(
                module.full(decorator).removesuffix("()") in CACHES for decorator in node.decorator_list
            ):
                yield from (f"{node.name}({a.arg})" for a in node.args.args if a.arg in ("table", "exact"))


def no_assert_guards_anything(_house: House, module: Module) -> Iterator[str]:
    """Python leaves assertions out when it is told to optimize."""
    if module.layer in plan.HOLDERS:
        yield from (f"line {node.lineno}" for node in module.everything if isinstance(node, ast.Assert))


def statistics_are_total(_house: House, module: Module) -> Iterator[str]:
    """An error that depends on a datum is an answer without noise."""
    if module.layer == "statistics" or module.within(plan.UNASKED):
        for node in module.everything:
            if isinstance(node, ast.FunctionDef) and node.name == "evaluate":
                yield from (f"line {n.lineno}" for n in ast.walk(node) if isinstance(n, ast.Raise | ast.Try))


def errors_do_not_quote_errors(_house: House, module: Module) -> Iterator[str]:
    """An engine's message may hold a datum: of a caught error only the type is told."""
    if module.layer not in plan.HOLDERS:
        return
    for handler in module.everything:
        if isinstance(handler, ast.ExceptHandler):
            inner = [node for part in handler.body for node in ast.walk(part)]
            told = {
                id(n.args[0]) for n in inner if isinstance(n, ast.Call) and module.full(n.func) == "type" and n.args
            }
            for node in inner:
                if isinstance(node, ast.Name) and node.id == handler.name and id(node) not in told:
                    yield f"line {node.lineno}: {node.id}"
                elif isinstance(node, ast.Raise) and node.exc and not _from_none(node):
                    yield f"line {node.lineno}: raises without `from None`"


def _from_none(node: ast.Raise) -> bool:
    return isinstance(node.cause, ast.Constant) and node.cause.value is None


def nothing_is_imported_by_a_name_made_up_at_run_time(_house: House, module: Module) -> Iterator[str]:
    """What is imported that way is on no map."""
    if module.name not in plan.DYNAMIC:
        yield from module.imported("importlib.import_module", "importlib.util", "runpy", "builtins")
        yield from (c for c in module.calls if last(c) in DYNAMIC)
        yield from (n for n in module.names if n in ("__import__", "exec", "eval", "sys.modules"))


def imports_say_where_they_lead(house: House, module: Module) -> Iterator[str]:
    """Relative imports, stars, and names fetched through the library's front door hide where they come from."""
    for node in module.everything:
        if isinstance(node, ast.ImportFrom):
            known = (
                alias.name == "__version__" or f"{plan.DOOR}.{alias.name}" in house.modules for alias in node.names
            )
            hidden = node.level or (node.module == plan.DOOR and not all(known)) or node.names[0].name == "*"
        else:
            hidden = isinstance(node, ast.Import) and any(
                alias.name.split(".")[0] == plan.DOOR and (alias.name == plan.DOOR or not alias.asname)
                for alias in node.names
            )
        if hidden:
            yield ast.unparse(node)


def what_is_not_on_the_side_of_the_rows_has_no_path_to_them(house: House, module: Module) -> Iterator[str]:
    """Post-processing costs nothing because it cannot look again; who is on neither side is refused."""
    if module.layer not in plan.ROWS:
        reached = house.reachable(module.name) - {plan.DOOR}
        yield from sorted(name for name in reached if house.modules[name].layer in plan.ROWS)


def what_follows_a_release_opens_no_ledger(house: House, module: Module) -> Iterator[str]:
    """What was spent is told by records; a store that is open can be written."""
    if module.layer not in plan.ROWS | {"ledger"}:
        yield from sorted(name for name in house.reachable(module.name) if house.modules[name].within(plan.STORES))


def what_follows_a_release_draws_no_privacy_noise(house: House, module: Module) -> Iterator[str]:
    """Noise that is drawn after a release protects nothing, and hides that."""
    if module.layer in ("release", "search", "report"):
        yield from house.reachable(module.name) & {"discreet.privacy.noise"}


def folders_import_what_the_plan_allows(house: House, module: Module) -> Iterator[str]:
    """Each folder knows those below it only; one that is not on the plan may import nothing."""
    if module.layer not in plan.MAY_IMPORT:
        yield f"{module.layer} is on no plan"
    allowed = plan.MAY_IMPORT.get(module.layer, ())
    for target in sorted(house.graph[module.name]):
        if house.modules[target].layer not in allowed and (module.name, target) not in plan.EXCEPTIONS:
            yield target


def what_is_imported_is_there(house: House, module: Module) -> Iterator[str]:
    """A path that is none of the library's modules leads past the plan."""
    for name in sorted(i for i in module.imports if i.split(".")[0] == plan.DOOR):
        parent = name.rpartition(".")[0]
        if name not in house.modules and parent not in house.modules:
            yield name


def exact_answers_are_reached_through_one_door(house: House, module: Module) -> Iterator[str]:
    """What is not private must not be met by accident, not by way of others either."""
    if not module.within(*plan.EXACT_DOORS):
        yield from module.imported(plan.EXACT)
        reached = house.reachable(module.name)
        yield from sorted(name for name in reached if house.modules[name].within(plan.EXACT))


def only_the_command_reaches_the_auditors(house: House, module: Module) -> Iterator[str]:
    """Auditors open what the library keeps shut, and what is broken on purpose must not be met by accident."""
    if not module.within("discreet.audit.register", plan.BROKEN):
        yield from module.imported(plan.BROKEN)
    if not module.within("discreet.cli.audit", "discreet.audit"):
        yield from module.imported("discreet.audit")
    if not module.name.startswith(("discreet.cli", "discreet.__main__", "discreet.audit")):
        yield from sorted(t for t in house.reachable(module.name) if house.modules[t].within("discreet.audit"))


def auditors_see_made_up_rows_only(_house: House, module: Module) -> Iterator[str]:
    """An audit of a custodian's rows would be a release without a charge."""
    if module.within("discreet.audit") and module.name not in plan.LOADERS:
        read = module.imported("discreet.data.load", *(n for n in _house.modules if n.startswith("discreet.data.")))
        yield from (i for i in read if not i.startswith(plan.MADE_UP))


RULES: tuple[Rule, ...] = (
    only_the_room_evaluates_and_blurs,
    nobody_reaches_into_the_room,
    only_noise_draws_from_entropy,
    choices_are_drawn_with_the_bits_of_noise,
    only_mechanisms_ask_for_noise,
    nobody_imports_the_predictable_noise,
    generators_are_passed_in,
    nobody_brings_a_seed,
    no_floating_point_noise,
    no_generators_where_noise_is_made,
    no_noise_from_hashes_or_clocks,
    nothing_is_printed_or_logged_where_rows_are,
    rows_are_not_copied_or_kept,
    no_cache_holds_data,
    no_assert_guards_anything,
    statistics_are_total,
    errors_do_not_quote_errors,
    nothing_is_imported_by_a_name_made_up_at_run_time,
    imports_say_where_they_lead,
    what_is_not_on_the_side_of_the_rows_has_no_path_to_them,
    what_follows_a_release_opens_no_ledger,
    what_follows_a_release_draws_no_privacy_noise,
    folders_import_what_the_plan_allows,
    what_is_imported_is_there,
    exact_answers_are_reached_through_one_door,
    only_the_command_reaches_the_auditors,
    auditors_see_made_up_rows_only,
)
