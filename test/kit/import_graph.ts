import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

/** One import of a file, types included. */
export interface Import {
  /** Path from the root of the repository, as are all paths here. */
  readonly file: string;
  /** Target as it is written. */
  readonly target: string;
  readonly isType: boolean;
}

/** Files that each file imports. */
export type ImportGraph = ReadonlyMap<string, readonly string[]>;

const ROOT = path.join(import.meta.dirname, '../..');

const IMPORT =
  /(?:^|\n)\s*(?:import|export)\s[^'";]*?from\s*'([^']+)'|import\(\s*'([^']+)'\s*\)|(?:^|\n)import\s+'([^']+)'/g;

export function importsBelow(...folders: readonly string[]): Import[] {
  return folders.flatMap((folder) => sourceFiles(folder).flatMap(importsOf));
}

/** Every TypeScript file below the folder, or every file of another kind. */
export function sourceFiles(folder: string, kind = /\.tsx?$/): string[] {
  return readdirSync(path.join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => kind.test(name) && !name.includes('node_modules'))
    .map((name) => path.join(folder, name));
}

export function readSource(file: string): string {
  return readFileSync(path.join(ROOT, file), 'utf8');
}

function importsOf(file: string): Import[] {
  return [...readSource(file).matchAll(IMPORT)].map(([statement, ...targets]) => ({
    file,
    target: targets.find((target) => target !== undefined) ?? '',
    isType: /^\s*import\s+type\s/.test(statement),
  }));
}

/** The imports that lead to a file of the repository. */
export function toGraph(imports: readonly Import[]): ImportGraph {
  const graph = new Map<string, string[]>();
  for (const { file, target } of imports) {
    const imported = fileOf(file, target);
    if (imported !== null) graph.set(file, [...(graph.get(file) ?? []), imported]);
  }
  return graph;
}

/** Null for a package, and for what is no module, such as a style sheet. */
function fileOf(importer: string, target: string): string | null {
  const file = target.startsWith('.')
    ? path.join(path.dirname(importer), target)
    : target.startsWith('#')
      ? path.join(/^#(infra|workers|test)\//.test(target) ? '' : 'src', target.slice(1))
      : null;
  return file !== null && /\.tsx?$/.test(file) && existsSync(path.join(ROOT, file)) ? file : null;
}

/** Every set of files that import one another in a circle, directly or through others, each in alphabetical order. */
export function findCycles(graph: ImportGraph): string[][] {
  const nodes = new Map<string, { readonly index: number; low: number; isOpen: boolean }>();
  const open: string[] = [];
  const cycles: string[][] = [];
  // Tarjan's algorithm: `low` is the earliest open file that can be reached from here.
  const visit = (file: string): { low: number } => {
    const node = { index: nodes.size, low: nodes.size, isOpen: true };
    nodes.set(file, node);
    open.push(file);
    for (const imported of graph.get(file) ?? []) {
      const known = nodes.get(imported);
      if (known === undefined) node.low = Math.min(node.low, visit(imported).low);
      else if (known.isOpen) node.low = Math.min(node.low, known.index);
    }
    if (node.low === node.index) {
      const members = open.splice(open.indexOf(file));
      for (const member of members) Object.assign(nodes.get(member) ?? {}, { isOpen: false });
      if (members.length > 1 || (graph.get(file) ?? []).includes(file)) cycles.push(members.toSorted());
    }
    return node;
  };
  for (const file of graph.keys()) if (!nodes.has(file)) visit(file);
  return cycles;
}

/** Every file that is loaded with this one, itself included. */
export function reachableFrom(graph: ImportGraph, start: string): Set<string> {
  const reached = new Set([start]);
  for (const file of reached) for (const imported of graph.get(file) ?? []) reached.add(imported);
  return reached;
}

const NAMES_OF_IMPORT = /(?:import|export)\s+(?:type\s+)?\{([^}]*)\}\s*from\s*'([^']+)'/g;

/** `file: name` of each exported function, class or constant that no caller imports and its own file does not use. */
export function exportsWithoutCallers(files: readonly string[], callers: readonly string[]): string[] {
  const imported = new Set(
    callers.flatMap((caller) =>
      [...readSource(caller).matchAll(NAMES_OF_IMPORT)].flatMap(([, names = '', target = '']) =>
        names.split(',').map((name) => `${fileOf(caller, target)}: ${name.trim().replace(/^type /, '')}`),
      ),
    ),
  );
  return files.flatMap((file) => {
    const source = readSource(file);
    const names = [...source.matchAll(/^export (?:async )?(?:function\*?|const|class) (\w+)/gm)].map(
      ([, name = '']) => name,
    );
    return names
      .filter((name) => source.match(new RegExp(`\\b${name}\\b`, 'g'))?.length === 1)
      .map((name) => `${file}: ${name}`)
      .filter((candidate) => !imported.has(candidate));
  });
}
