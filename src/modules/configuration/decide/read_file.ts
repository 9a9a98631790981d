import { isNode, isScalar, LineCounter, type Node, parseDocument, visit, type YAMLError } from 'yaml';

import { ConfigurationFile, FILE_VERSION } from '#modules/configuration/decide/file.ts';
import { type Fault, FAULTS_MAX } from '#kernel/errors.ts';
import { findFaults } from '#kernel/input_faults.ts';

/** Limit on the text of a file, in characters. */
export const FILE_LENGTH_MAX = 16 * 1024 * 1024;

/** Limit on the uses of anchors in a file: each one repeats what it stands for. */
const ALIASES_MAX = 100;

/** Limit on the values of a file once its aliases stand for what they repeat. */
const VALUES_MAX = 5_000_000;

/** A fault of a file with its line, counted from 1; null where the file has no such place. */
export interface FaultOfFile extends Fault {
  readonly line: number | null;
}

export type ReadFile =
  | { readonly kind: 'ok'; readonly value: ConfigurationFile }
  | { readonly kind: 'faults'; readonly faults: readonly FaultOfFile[] };

/**
 * Reads a configuration file from YAML, of which JSON is a part. Every fault has its path and line. Bounded: by the
 * length of the text, by the uses of anchors, and by the values that they come to.
 */
export function readConfigurationFile(text: string): ReadFile {
  if (text.length > FILE_LENGTH_MAX) {
    return faultsOfWhole(`the file has ${text.length} characters; at most ${FILE_LENGTH_MAX} are read`);
  }
  const parsed = parseText(text);
  if (parsed.kind === 'faults') return parsed;
  const { value } = parsed;
  const version: unknown = typeof value === 'object' && value !== null ? Reflect.get(value, 'version') : undefined;
  if (typeof version === 'number' && version > FILE_VERSION) {
    return faultsAt(text, [
      {
        path: 'version',
        message: `is ${version}, which a later release reads; this one reads version ${FILE_VERSION}`,
      },
    ]);
  }
  const faults = findFaults(ConfigurationFile, value);
  if (faults.length > 0) return faultsAt(text, faults);
  return { kind: 'ok', value: value as ConfigurationFile };
}

/** Adds to each fault the line of its path. */
export function faultsAt(text: string, faults: readonly Fault[]): Extract<ReadFile, { kind: 'faults' }> {
  const lineOf = linesOf(text);
  const shown = faults.slice(0, FAULTS_MAX).map((fault) => ({ ...fault, line: lineOf(fault.path) }));
  return { kind: 'faults', faults: shown };
}

type ParsedText = { readonly kind: 'ok'; readonly value: unknown } | Extract<ReadFile, { kind: 'faults' }>;

function parseText(text: string): ParsedText {
  try {
    const lines = new LineCounter();
    const document = parseDocument(text, { ...OPTIONS, lineCounter: lines });
    if (document.errors.length > 0) {
      return { kind: 'faults', faults: document.errors.slice(0, FAULTS_MAX).map((error) => toFault(error, lines)) };
    }
    const faults = faultsOfNodes(document.contents, lines);
    if (faults.length > 0) return { kind: 'faults', faults: faults.slice(0, FAULTS_MAX) };
    return { kind: 'ok', value: document.toJS({ maxAliasCount: ALIASES_MAX }) as unknown };
  } catch (error) {
    if (error instanceof RangeError) return faultsOfWhole('is nested too deeply');
    if (error instanceof ReferenceError)
      return faultsOfWhole('repeats anchors too often; write out what they stand for');
    throw error;
  }
}

/** The parser compares each name with every other of its object; `faultsOfNodes` finds those that stand twice. */
const OPTIONS = { uniqueKeys: false, prettyErrors: false, logLevel: 'silent' } as const;

/** Returns what the parser leaves: names that stand twice in one object, too many aliases, and too many values. */
function faultsOfNodes(contents: Node | null, lines: LineCounter): FaultOfFile[] {
  const faults: FaultOfFile[] = [];
  let [aliases, values] = [0, 0];
  const refuse = (message: string, node: Node) => {
    const line = node.range ? lines.linePos(node.range[0]).line : null;
    return faults.push({ path: '', message, line });
  };
  visit(contents, {
    Node(_key, node) {
      values += 1;
      if (values <= VALUES_MAX) return undefined;
      refuse(`holds more than ${VALUES_MAX} values`, node);
      return visit.BREAK;
    },
    Alias(_key, node) {
      aliases += 1;
      if (aliases <= ALIASES_MAX) return undefined;
      refuse(`uses anchors more than ${ALIASES_MAX} times; write out what they stand for`, node);
      return visit.BREAK;
    },
    Map(_key, map) {
      const names = new Set<unknown>();
      for (const { key } of map.items) {
        // The parser writes a name that is an object as text, and each within it again.
        if (isNode(key) && !isScalar(key)) {
          refuse('the name of a property must be a text', key);
          return visit.BREAK;
        }
        if (!isScalar(key)) continue;
        if (names.has(key.value))
          refuse(`the property ${String(key.value).slice(0, 100)} stands twice in one object`, key);
        names.add(key.value);
        if (faults.length >= FAULTS_MAX) return visit.BREAK;
      }
      return undefined;
    },
  });
  return faults;
}

function toFault(error: YAMLError, lines: LineCounter): FaultOfFile {
  const { line } = lines.linePos(error.pos[0]);
  return { path: '', message: `is no valid YAML: ${sentenceOf(error)}`, line };
}

/** Sentences for the faults that people make most; the rest have the words of the parser without what it quotes. */
function sentenceOf({ code, message }: YAMLError): string {
  if (code === 'BAD_INDENT') return 'the indentation does not fit';
  if (code === 'TAB_AS_INDENT') return 'a tab indents; use spaces';
  if (code === 'RESOURCE_EXHAUSTION') return 'it is nested too deeply';
  return (message.split('\n')[0] ?? '').slice(0, 120);
}

function faultsOfWhole(message: string): Extract<ReadFile, { kind: 'faults' }> {
  return { kind: 'faults', faults: [{ path: '', message, line: null }] };
}

/** Returns a function for the line on which a path stands, or else the nearest part of it that is there. */
function linesOf(text: string): (path: string) => number | null {
  const lines = new LineCounter();
  const document = parseDocument(text, { ...OPTIONS, lineCounter: lines });
  return (path) => {
    const parts = partsOf(path);
    for (let length = parts.length; length >= 0; length -= 1) {
      const node: unknown = document.getIn(parts.slice(0, length), true);
      if (isNode(node) && node.range) return lines.linePos(node.range[0]).line;
    }
    return null;
  };
}

/** Splits a path such as `teams[0].members[2].person`. */
function partsOf(path: string): (string | number)[] {
  return [...path.matchAll(/\[(\d+)\]|([^.[\]]+)/g)].map(([, index, name]) =>
    index === undefined ? (name ?? '') : Number(index),
  );
}
