type Rule = readonly [pattern: RegExp, replacement: string];

/** Anonymous class of PHP, named by its parent, file and line; decoders write U+FFFD for the NUL between. */
export const ANONYMOUS_CLASS: Rule = [
  /@anonymous(?!(?:::|->)[\w{])(?:[\0\uFFFD\s/\\:].*?)?(?=(?:::|->)[\w{]|$)/s,
  '@anonymous',
];

/** Anonymous classes in what is said, where other words may follow. */
export const ANONYMOUS_CLASS_SAID: Rule = [
  /@anonymous[\0\uFFFD ]?(?:[A-Za-z]:)?[/\\][^\s:]{1,300}(?::\d+(?:\$[0-9a-f]+)?)?/g,
  '@anonymous',
];

/*
 * Compilers number anonymous functions and classes in the order of the source, and some name them by file and line: a
 * closure that is added above renames all others. A name keeps all but the number and the place. The rules apply to
 * names of functions, modules and classes in a stack, never to types. Each rule is linear or bounded.
 */
export const NUMBERED: readonly Rule[] = [
  ANONYMOUS_CLASS,
  // PHP names a closure by its declaration: its function or its file, and the line.
  [/(?<=\{closure:)(?:[a-z]{2,10}:\/\/)?(?:[A-Za-z]:)?[\\/](?:[^{}\\/]{0,200}[\\/])*(?=[^{}\\/]{1,200}\})/g, ''],
  [/(?:\(\d+\) : eval\(\)'d code)?:\d+(?=\})/g, ''],
  // What Symfony, Doctrine, Twig, Smarty and libraries for tests compile.
  [/(?<=(?:^|\\)Container)(?=[A-Z\d][a-z]{0,5}[A-Z\d])[A-Za-z\d]{7}(?=\\)/g, ''],
  [/(?<=[a-z](?:Ghost|Proxy|_))(?=[\da-f]{0,6}\d)[\da-f]{7}(?=::|->)/i, ''],
  [/(?<=__TwigTemplate_[\da-f]{20,64})___\d+/, ''],
  [/(?<=\bcontent_[\da-f]{12,24})_\d{6,10}(?!\w)/, ''],
  [/(?<=\bMockery_)\d+(?=_)|(?<=\bMock_\w{1,100}_)[\da-f]{8}(?=::|->)/g, ''],
  // C# as Unity writes it into C++.
  [/(?<=\w)_m[\dA-F]{16,64}(?:_gshared)?$/, ''],
  [/(?<=^|_)U3C(\w{0,100}?)U3E(?=[a-z]?__)/g, '<$1>'],
  // C#: top-level statements, local functions and lambdas in each other, types of one file, compiled expressions.
  [/(?<=<\w{0,100}>c__(?:Iterator|AnonStorey|async))[\dA-F]+/g, ''],
  [/(?<=<\w{0,100}>[m-p]__(?:Finally)?)\d+/g, ''],
  [/(?<=^Castle\.Proxies\.[\w.]{1,200})_\d+$/, ''],
  [/(?<=<>f__AnonymousType|VB\$AnonymousType_|\blambda_method|<Map[A-Z][a-z]{1,20})\d+/g, ''],
  [/<(\w{1,100})>\$/g, '$1'],
  [/<(\w{0,100})>F[0-9A-F]{8,64}__/g, '<$1>F__'],
  [/<([\w.]{0,100})>g__(\w{1,100})\|\d+(?:_\d+)?/g, '$1.$2'],
  [/<([\w.]{1,100})>[bd]__\d+(?:_\d+)?(?:#\d+)?/g, '$1'],
  [/<([\w.]{0,100})>g__(\w{1,100})\|\d+(?:_\d+)?/g, '$1.$2'],
  [/(?<=_(?:Lambda|Closure)\$?_{1,2}|VB\$StateMachine_)\d+(?:-\d+)*/g, ''],
  // F#.
  [/ at line \d+(?=@|$)/, ''],
  [/(?<=\w)@\d+(?:-\d+)?T?(?!\w|\.\d)/g, '@'],
  // Android's compilers, Kotlin, Java, Scala, Groovy, Clojure.
  [/(\$\$(?:External|Internal)Synthetic[A-Za-z]{0,20})[\d$][\w$]*/g, '$1'],
  [/(?<=\$r8\$lambda\$)[\w-]{20,40}/, ''],
  [/^m\d+(?=\w{1,100}\$lambda)/, ''],
  [/(?<=\w\$lambda)(?:-|\$-?)\d+/g, ''],
  [/(?<=\bobject-)\d+(?=\.)|(?<=\bLambdaForm\$[A-Z]{2,4})\d+/g, ''],
  [/(?<=\blambda\$\w{1,100})\$[\da-f]{1,8}(?=\$\d)/, ''],
  [/(?<=\$(?:FastClass|Enhancer)By\w{1,20})\$\$\w+/, ''],
  [/(?<=\$MockitoMock)\$-?\d+/, ''],
  [/(?<=\bliftedTree|\bscript(?=\d{10}))\d+/, ''],
  [/(?<=\bGenerated\w{1,40}Stage)\d+/, ''],
  [/(?<=\bG__)\d+/g, ''],
  [/\bjdk\.proxy\d+/, 'jdk.proxy'],
  [/(?<=\baccess\$)\d+/, ''],
  [/(?<=[$/](?:fn|eval|reify|iter)(?:_{0,2}|--))\d+(?:__auto__)?/g, ''],
  // Go: `defer` and `go` with arguments, loops over functions, and what initialises packages.
  [/^glob\.\./, 'init.'],
  [/\binit\.\d+(?!\w)/, 'init'],
  [/(?<=[.-](?:deferwrap|gowrap|range))\d+(?:\.\d+)*/g, ''],
  [/(?<=\.func\d[\w.]{0,200})\.\d+(?=\.|$)/g, ''],
  // Rust by either mangling, as it is and demangled, and by debuggers.
  [/17h[\da-f]{16}(?=E)/, ''],
  [/(?<=C)s[\dA-Za-z]{0,14}_(?=\d)(?<=^_R\w{0,500})/g, ''],
  [/s[\dA-Za-z]{0,2}_(?=0)(?<=^_R\w{0,500})/g, ''],
  [/(?<=B)[\dA-Za-z]{0,4}_(?<=^_R\w{0,500})/g, ''],
  [/\{\{vtable\.shim\}\}|\{(?:vtable\.shim|shim:vtable)(?:#\d+)?\}/g, '{shim}'],
  [/\{\{([\w.]{1,40})\}\}/g, '{$1}'],
  [/\[[0-9a-f]{8,16}\](?=::|$|>| )/g, ''],
  [/\b(closure|async_fn|async_block|async_closure|impl|coroutine)(?:_env)?\$\d+/g, '{$1}'],
  [/\.llvm\.\d+$/, ''],
  [/^<([^<>\s]{1,200})>::/, '$1::'],
  [/::<(?:[^<>]|<[^<>]{0,100}>){1,200}>/g, ''],
  // C++, Objective-C, Swift, D, Zig.
  [/(?: \[clone [.\w]{1,60}\]| \((?:\.\w{1,60})+\))+$/, ''],
  [/(?:\.(?:isra|(?:__)?part|constprop|cold|lto_priv|localalias|__uniq)(?:\.\d+)*)+$/, ''],
  [/(?<=_omp_fn)\.\d+|(?<=OUTLINED_FUNCTION)(?:_\d+)+/, ''],
  [/(?<=\bomp_outlined)(?:\._debug__)?\.{0,2}\d*(?!\w)/, ''],
  [/(U(?:l[^_]{1,100}E|t))\d*_/g, '$1_'],
  [/(?<=::)__l\d+(?=::)/g, '__l'],
  [/(?<=`)\d+(?=')/g, ''],
  [/(?<='(?:lambda|unnamed))\d+(?=')/g, ''],
  [/(?<=_block_invoke)(?:[_.]\d+)+/, ''],
  [/^\(\d+\) (?:suspend|await) resume partial function for /, ''],
  [/^(?:merged |specialized |[a-z -]{0,60}specialization <(?:[^<>]|<[^<>]{0,100}>){0,200}> of )+/, ''],
  [/(?<= in )\$[\da-f]{6,16}(?=\))/g, ''],
  [/^(_?\$[sS]\w{1,500}?)(?:T[QY]\d*_|TA)+$/, '$1'],
  [/(f[Uu])\d*_(?<=^_?\$[sS]\w{0,500})/g, '$1_'],
  [/(?<=__lambda)_L\d+(?:_C\d+)?/g, ''],
  [/(?<=__(?:struct|anon|foreachbody)_?)\d+/g, ''],
  // Erlang and Elixir number funs and comprehensions after the function that holds them.
  [/(?<=\/\d{1,3})-([^\s/-]{0,80}(?:\/\d{1,3})?)-\d+-/g, '-$1--'],
  [/(?<=\$\^)\d+/g, ''],
  [/#Fun<([\w.]{1,100}?)\.\d+\.\d+>/g, '#Fun<$1>'],
  [/(?<=#Function<)\d+\.\d+(?=\/)/g, ''],
  // OCaml, Nim, Crystal, Perl, Lua and Dart name anonymous functions by their place, and some number all.
  [/^(caml[A-Z]\w{0,200}(?:__|\.)\w{1,100})_\d+$/, '$1'],
  [/(\w__\w{1,100}_u)\d+$/, '$1'],
  [/(?<=__ANON__::SERIAL::|\bSandbox_)\d+/g, ''],
  [/(?<=\banon_fn)\[[^\]]{0,200}\]/, ''],
  [/^(~proc[^@]{0,100})@.*$/s, '$1'],
  [/(?<=__ANON__)(?:\([^)]{0,200}\)|\[[^\]]{0,200}\])/, ''],
  [/(?<=^(?:in )?function )<([^<>:]{1,200}):\d+>/, '<$1>'],
  [/(?<= closure) at \S{1,300}/, ''],
  // A number after a sign, or after a word for an anonymous function.
  [/ ?#\d+(?!\w)/g, ''],
  [/(?<=[|~^])\d+(?:_\d+)?(?!\w)/g, ''],
  [/(?<=(?<![a-zA-Z])(?:lambda|closure|anon|anonymous|anonfun)[_$^-]{0,2})-?\d+(?![a-zA-Z])/gi, ''],
  [/(?<=[._]fun_)\d+(?![a-zA-Z])/g, ''],
  [/(?<=\bwasm-function)\[\d+\]/, ''],
];

/** Forms of names that only a number, or nothing at all, tells apart from others of the same function or class. */
const CLOSURES: readonly RegExp[] = [
  /[.-](?:func|deferwrap|gowrap|range)\d/,
  /(?<![a-zA-Z])(?:lambda|closure|anon|anonymous|anonfun)[-_$#^ ]{0,2}\d/i,
  /\blambda\$\w{1,100}\$\d|\{(?:lambda|closure)|'lambda|\blambda_method|__lambda|<lambda_/,
  />[bm]__|@anonymous|_Lambda\$|\w@\d|\$_?\d|Synthetic[A-Za-z]{1,20}\d|\$r8\$lambda|\$\$Lambda|\$(?:fn|reify)__/,
  /\/\d{1,3}-[^\s/-]{0,80}(?:\/\d{1,3})?-\d+-|^anonymous fn\/|closure #|_block_invoke|anon_fn\[|[._]fun_\d|~proc/,
  /__ANON__|^(?:in )?function <|\bwasm-function\[| closure at /,
  /Ul[^_]{1,100}E\d*_|^_R.{0,10}NC|^_?\$[sS]\w{1,500}f[Uu]\d*_|_omp_fn|\bomp_outlined|OUTLINED_FUNCTION/,
];
const CLOSURE_CLASS =
  /(?<!\$|MockitoMock|ByteBuddy|HibernateProxy|Accessor)\$\d+$|Synthetic[A-Za-z]{1,20}\d|\$\$Lambda|@anonymous/;

/** Whether the function, or the class that holds it, may be one of several that a stack does not tell apart. */
export function isClosure(name: string | null, module: string | null): boolean {
  return CLOSURES.some((form) => form.test(name ?? '')) || CLOSURE_CLASS.test(module ?? '');
}

/** Names of functions that bundlers and compilers of JavaScript number: the module's id, or what stands for `async`. */
const NUMBERED_SCRIPT = /^(?:\d+|_(?:callee|loop)\d*\$?)$/;

/**
 * Returns a function of JavaScript without the number by which a bundler tells it from its namesakes. Null if only a
 * bundler names it.
 */
export function unnumberedScript(name: string): string | null {
  return NUMBERED_SCRIPT.test(name) ? null : name.replace(/(?<=\w)\$\d+$/, '');
}

/** Whether a file of a page is named by a digest alone: eight characters in both cases, or with figures. */
export function isDigestOnly(file: string): boolean {
  return /^(?=[^.]*[A-Z])(?=[^.]*(?:\d|[A-Z]{2}|[-_]))[\w-]{8}\.[cm]?jsx?$/.test(file);
}

/** Removes the owner of a method, which Ruby 3.4 names: `block in Order#pay` was `block in pay` before. */
export function withoutRubyOwner(name: string): string {
  return name.replace(/(?<=^|\bin )(?:[A-Z]\w{0,100}(?:::|(?=[#.]))){1,20}[#.](?=\S)/, '');
}
