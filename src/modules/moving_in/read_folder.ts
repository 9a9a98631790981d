import { readdir, readFile, stat } from 'node:fs/promises';
import path from 'node:path';

import { isNode, isScalar, parseAllDocuments, visit } from 'yaml';

import type { RawDocument, UnreadableFile } from '#modules/moving_in/decide/raw.ts';
import { AppError } from '#kernel/errors.ts';

const FILES_MAX = 50_000;
const FILE_BYTES_MAX = 64 * 1_048_576;
const YAML_BYTES_MAX = 8 * 1_048_576;
const FOLDER_BYTES_MAX = 1_024 * 1_048_576;
/** Limit on what aliases of YAML may repeat. */
const ALIASES_MAX = 1_000;
const DOCUMENTS_MAX = 1_000;

/** Files of a folder, sorted by path, with those that cannot be read. */
export interface FolderContent {
  readonly documents: readonly RawDocument[];
  readonly unreadable: readonly UnreadableFile[];
}

/** Reads every JSON, YAML and iCal file below a folder, or one such file. A file that cannot be read is named, with why. */
export async function readFolder(folder: string): Promise<FolderContent> {
  const files = await filesBelow(folder);
  const documents: RawDocument[] = [];
  const unreadable: UnreadableFile[] = [];
  let bytes = 0;
  for (const file of files) {
    const shown = path.relative(folder, file).replaceAll(path.sep, '/') || path.basename(file);
    const { size } = await stat(file);
    bytes += size;
    if (bytes > FOLDER_BYTES_MAX)
      throw new AppError(
        'invalid_input',
        `${folder} holds more than ${FOLDER_BYTES_MAX / 1_048_576} MB: give a folder with the export alone`,
      );
    if (size > FILE_BYTES_MAX) {
      unreadable.push({ path: shown, reason: `It is larger than ${FILE_BYTES_MAX / 1_048_576} MB.` });
      continue;
    }
    const parsed = parseFile(shown, await readFile(file, 'utf8'));
    if ('reason' in parsed) unreadable.push({ path: shown, reason: parsed.reason });
    else documents.push(...parsed.values.map((value) => ({ path: shown.toLowerCase(), value })));
  }
  return { documents, unreadable };
}

export function readTexts(files: readonly { readonly name: string; readonly text: string }[]): FolderContent {
  const documents: RawDocument[] = [];
  const unreadable: UnreadableFile[] = [];
  for (const { name, text } of files) {
    const parsed = parseFile(name, text);
    if ('reason' in parsed) unreadable.push({ path: name, reason: parsed.reason });
    else documents.push(...parsed.values.map((value) => ({ path: name.toLowerCase(), value })));
  }
  return { documents, unreadable };
}

async function filesBelow(folder: string): Promise<string[]> {
  let isFolder: boolean;
  try {
    isFolder = (await stat(folder)).isDirectory();
  } catch {
    throw new AppError('invalid_input', `there is no folder ${folder}`);
  }
  if (!isFolder) return [folder];
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile() && /\.(json|ya?ml|ics|rules|prom)$/i.test(entry.name));
  if (files.length > FILES_MAX)
    throw new AppError(
      'invalid_input',
      `${folder} holds more than ${FILES_MAX} files: give a folder with the export alone`,
    );
  return files.map((entry) => path.join(entry.parentPath, entry.name)).toSorted();
}

function parseFile(name: string, text: string): { readonly values: readonly unknown[] } | { readonly reason: string } {
  if (/\.ics$/i.test(name)) return { values: [text] };
  if (/\.json$/i.test(name)) return parseJson(text);
  return parseYaml(text);
}

function parseJson(text: string): { readonly values: readonly unknown[] } | { readonly reason: string } {
  try {
    return { values: [JSON.parse(text.replace(/^\uFEFF/, ''))] };
  } catch {
    return { reason: text.trim() === '' ? 'It is empty.' : 'It is no JSON: it may have been cut off.' };
  }
}

/** Parses YAML whose aliases repeat a limited amount, so that a small file cannot become a large one. */
function parseYaml(text: string): { readonly values: readonly unknown[] } | { readonly reason: string } {
  if (text.length > YAML_BYTES_MAX) return { reason: `It is YAML of more than ${YAML_BYTES_MAX / 1_048_576} MB.` };
  try {
    const documents = parseAllDocuments(text, { logLevel: 'silent' });
    if (!Array.isArray(documents)) return { reason: 'It is empty.' };
    if (documents.length > DOCUMENTS_MAX) return { reason: `It holds more than ${DOCUMENTS_MAX} documents.` };
    const fault = documents.find(({ errors }) => errors.length > 0)?.errors[0];
    if (fault !== undefined) return { reason: `It is no YAML: ${fault.message.split('\n')[0] ?? fault.code}` };
    if (documents.some((document) => hasObjectAsName(document)))
      return { reason: 'The name of a property is no text.' };
    return { values: documents.map((document): unknown => document.toJS({ maxAliasCount: ALIASES_MAX })) };
  } catch {
    return { reason: 'Its aliases repeat more than a file may.' };
  }
}

/** Whether a name is an object or a list, which the parser writes as text, and each within it again. */
function hasObjectAsName(document: Parameters<typeof visit>[0]): boolean {
  let isFound = false;
  visit(document, {
    Pair(_place, { key }) {
      isFound = isNode(key) && !isScalar(key);
      return isFound ? visit.BREAK : undefined;
    },
  });
  return isFound;
}
