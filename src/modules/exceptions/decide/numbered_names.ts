type Rule = readonly [pattern: RegExp, replacement: string];

/** Anonymous class of PHP, named by its parent, file and line; decoders write U+FFFD for the NUL between. */
export const ANONYMOUS_CLASS: Rule = [/@anonymous(?:[\0\uFFFD\s/\\:].*?)?(?=(?:::|->)[\w{]|$)/s, '@anonymous'];

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
  // C#: top-level statements, local functions and lambdas in each other, types of one file, compiled expressions.
  [/(?<=<>f__AnonymousType|VB\$AnonymousType_|\blambda_method|<Map[A-Z][a-z]{1,20})\d+/g, ''],
  [/<(\w{1,100})>\$/g, '$1'],
  [/<(\w{0,100})>F[0-9A-F]{8,64}__/g, '<$1>F__'],
  [/<([\w.]{0,100})>g__(\w{1,100})\|\d+(?:_\d+)?/g, '$1.$2'],
  [/<([\w.]{1,100})>[bd]__\d+(?:_\d+)?(?:#\d+)?/g, '$1'],
  [/<([\w.]{0,100})>g__(\w{1,100})\|\d+(?:_\d+)?/g, '$1.$2'],
  [/(?<=_(?:Lambda|Closure)\$?_{1,2}|VB\$StateMachine_)\d+(?:-\d+)*/g, ''],
  // F#.
  [/ at line \d+(?=@|$)/, ''],
  [/(?<=\w)@\d+(?:-\d+)?(?!\w|\.\d)/g, '@'],
  // Android's compilers, Kotlin, Java, Clojure.
  [/(\$\$(?:External|Internal)Synthetic[A-Za-z]{0,20})[\d$][\w$]*/g, '$1'],
  [/(?<=\$r8\$lambda\$)[\w-]{20,40}/, ''],
  [/^m\d+(?=\w{1,100}\$lambda)/, ''],
  [/\bjdk\.proxy\d+/, 'jdk.proxy'],
  [/(?<=\baccess\$)\d+/, ''],
  [/(?<=\$(?:fn|eval|reify|iter)_{0,2})\d+(?:__auto__)?/g, ''],
  // Go: `defer` and `go` with arguments, loops over functions, and what initialises packages.
  [/^glob\.\./, 'init.'],
  [/\binit\.\d+(?!\w)/, 'init'],
  [/(?<=[.-](?:deferwrap|gowrap|range))\d+(?:\.\d+)*/g, ''],
  // Rust by either mangling, and by debuggers.
  [/\{\{([\w.]{1,40})\}\}/g, '{$1}'],
  [/\[[0-9a-f]{8,16}\](?=::|$|>| )/g, ''],
  [/\b(closure|async_fn|async_block|async_closure|impl|coroutine)(?:_env)?\$\d+/g, '{$1}'],
  [/\.llvm\.\d+$/, ''],
  [/^<([^<>\s]{1,200})>::/, '$1::'],
  [/::<(?:[^<>]|<[^<>]{0,100}>){1,200}>/g, ''],
  // C++, Objective-C, Swift, D, Zig.
  [/(?: \[clone [.\w]{1,60}\])+$/, ''],
  [/(?:\.(?:isra|part|constprop|cold|lto_priv|localalias)(?:\.\d+)*)+$/, ''],
  [/(?<='(?:lambda|unnamed))\d+(?=')/g, ''],
  [/(?<=_block_invoke)(?:[_.]\d+)+/, ''],
  [/^\(\d+\) (?=suspend|await)/, ''],
  [/(?<=__lambda)_L\d+(?:_C\d+)?/g, ''],
  [/(?<=__(?:struct|anon|foreachbody)_?)\d+/g, ''],
  // Erlang and Elixir number funs and comprehensions after the function that holds them.
  [/(?<=\/\d{1,3})-([^\s/-]{0,80}(?:\/\d{1,3})?)-\d+-/g, '-$1--'],
  [/(?<=\$\^)\d+/g, ''],
  // OCaml, Crystal, Perl, Lua and Dart name anonymous functions by their place.
  [/(?<=\banon_fn)\[[^\]]{0,200}\]/, ''],
  [/^(~proc[^@]{0,100})@.*$/s, '$1'],
  [/(?<=__ANON__)(?:\([^)]{0,200}\)|\[[^\]]{0,200}\])/, ''],
  [/(?<=^function )<([^<>:]{1,200}):\d+>/, '<$1>'],
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
  />b__|@anonymous|_Lambda\$|\w@\d|\$_?\d|Synthetic[A-Za-z]{1,20}\d|\$r8\$lambda|\$\$Lambda|\$(?:fn|reify)__/,
  /\/\d{1,3}-[^\s/-]{0,80}(?:\/\d{1,3})?-\d+-|^anonymous fn\/|closure #|_block_invoke|anon_fn\[|[._]fun_\d|~proc/,
  /__ANON__|^function <|\bwasm-function\[| closure at /,
];
const CLOSURE_CLASS = /\$\d+$|Synthetic[A-Za-z]{1,20}\d|\$\$Lambda|@anonymous/;

/** Whether the function, or the class that holds it, may be one of several that a stack does not tell apart. */
export function isClosure(name: string | null, module: string | null): boolean {
  return CLOSURES.some((form) => form.test(name ?? '')) || CLOSURE_CLASS.test(module ?? '');
}

/** Removes the owner of a method, which Ruby 3.4 names: `block in Order#pay` was `block in pay` before. */
export function withoutRubyOwner(name: string): string {
  return name.replace(/(?<=^|\bin )(?:[A-Z]\w{0,100}(?:::|(?=[#.]))){1,20}[#.](?=\S)/, '');
}
