interface UploadedCode {
  readonly path: string;
  readonly code: string;
  readonly mappings: string;
}

/**
 * Removes the line that the upload added. The plugins of bundlers write the debug id into the code, and upload a copy
 * under a name of theirs. The client that they upload with looks for the id between quotes; where a minifier has
 * written it between backticks it adds a line of its own to the copy, and to its map. The code that runs does not have
 * this line: without it, both fit again.
 */
export function withoutUploadLine(uploaded: UploadedCode): Pick<UploadedCode, 'code' | 'mappings'> {
  const { path, code, mappings } = uploaded;
  const id = copyIdOf(path);
  if (id === null) return uploaded;
  const lines = code.split('\n', FIRST_LINES);
  const index = lines.findIndex((line) => ADDED_LINE.exec(line)?.[1]?.toLowerCase() === id);
  const before = lines.slice(0, Math.max(index, 0));
  if (index === -1 || !before.every((line) => /^(?:#!|\/\/ @bun)/.test(line))) return uploaded;
  const start = before.reduce((length, line) => length + line.length + 1, 0);
  const rest = code.slice(start + (lines[index]?.length ?? 0) + 1);
  if (!rest.includes(`sentry-dbid-${id}`)) return uploaded;
  const mappingsStart = startOfLine(mappings, index);
  if (mappings[mappingsStart] !== ';') return uploaded;
  return {
    code: `${code.slice(0, start)}${rest}`,
    mappings: `${mappings.slice(0, mappingsStart)}${mappings.slice(mappingsStart + 1)}`,
  };
}

/** Returns the debug id in the name of a copy that was made for the upload; null for other code. */
export function copyIdOf(path: string): string | null {
  return COPY.exec(path)?.[1]?.toLowerCase() ?? null;
}

/** Name of a copy, such as `9f3329ff-5230-4ef0-8039-5b9b8bf31b50-0.js`. */
const COPY = /(?:^|\/)([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})-\d{1,9}\.js$/i;
/** Number of first lines to search: an interpreter's line and a mark of Bun's may precede the added line. */
const FIRST_LINES = 3;
const ADDED_LINE = /^;!function\(\)\{try\{.{1,400}_sentryDebugIds\[n\]="([0-9a-f-]{36})".{1,200}\}\(\);$/i;

/** Returns the position of a line in mappings; their end for one that they do not have. */
function startOfLine(mappings: string, index: number): number {
  let start = 0;
  for (let line = 0; line < index; line += 1) {
    const end = mappings.indexOf(';', start);
    if (end === -1) return mappings.length;
    start = end + 1;
  }
  return start;
}

/** Returns a debug id in one form: 32 lower hex digits. Null for anything else. */
export function debugIdOf(text: unknown): string | null {
  if (typeof text !== 'string' || text.length > 50) return null;
  const digits = text.replaceAll('-', '').toLowerCase();
  // Debug ids of native code have an age at their end; those of source maps do not.
  return /^[0-9a-f]{32}$/.test(digits) ? digits : null;
}
