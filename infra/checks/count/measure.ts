import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

/** Counts by the names under which their limits are kept. */
export type Counts = Readonly<Record<string, number>>;

const ENTRIES_MAX = 40;

/** Words that begin a clause which hangs in the air when a doc comment begins with them. */
const HANGING =
  /^(?:Also|And|As|At|Because|Before|Behind|Beside|Between|But|By|For|From|If|In|Of|On|Since|So|Such|Than|That|Those|To|Until|When|Where|Which|Who|Whom|Whose|With|Within|Without|What|How|Why)\b/;

/** Names that say nothing of what they hold. */
const EMPTY_NAME =
  /\b(?:const|let)\s+(?:one|found|own|known|told|given|met|beside)\b|\(\s*(?:one|found|own|known|told|given|met|beside)\s*(?:[,):]|=>)|\b(?:one|found|own|known|told|given|met|beside)\s*=>/g;

export function measure(root: string): Counts {
  const ours = ['src', 'workers'].flatMap((folder) => filesBelow(path.join(root, folder)));
  const code = ours.filter(isCode);
  const sizes = code.map(linesOf).toSorted((a, b) => a - b);
  const texts = code.map((file) => readFileSync(file, 'utf8'));
  return {
    'lines of src and workers': sum(sizes),
    'files of src and workers': code.length,
    'lines of CSS': sum(ours.filter((file) => file.endsWith('.css')).map(linesOf)),
    'lines of infra/bench': linesBelow(root, 'infra/bench'),
    'lines of infra/embedded/phone_simulator': linesBelow(root, 'infra/embedded/phone_simulator'),
    'doc comments that begin with a hanging clause': sum(
      ['src', 'workers', 'infra', 'test', 'findings']
        .flatMap((folder) => filesBelow(path.join(root, folder)))
        .filter(isCode)
        .map((file) => hangingComments(readFileSync(file, 'utf8'))),
    ),
    'names that say nothing': sum(texts.map((text) => text.match(EMPTY_NAME)?.length ?? 0)),
    ...entriesOfLargeFolders(root),
  };
}

/** Median number of lines of a file of `src` and `workers`. */
export function medianLines(root: string): number {
  const files = ['src', 'workers'].flatMap((folder) => filesBelow(path.join(root, folder))).filter(isCode);
  const sizes = files.map(linesOf).toSorted((a, b) => a - b);
  return sizes[Math.floor(sizes.length / 2)] ?? 0;
}

/** Counts doc comments that begin with a clause instead of a verb or a noun. */
export function hangingComments(text: string): number {
  return [...text.matchAll(/^[ \t]*\/\*\*\s*(?:\*\s*)?([A-Z]\w*)/gm)].filter(([, word = '']) => HANGING.test(word))
    .length;
}

function entriesOfLargeFolders(root: string): Counts {
  const folders = ['src', 'workers', 'infra', 'test'].flatMap((folder) => foldersBelow(path.join(root, folder)));
  const counted = folders.map((folder) => [`entries of ${path.relative(root, folder)}`, entriesOf(folder)] as const);
  return Object.fromEntries(counted.filter(([, entries]) => entries > ENTRIES_MAX));
}

const isCode = (file: string): boolean => /\.tsx?$/.test(file);

const linesBelow = (root: string, folder: string): number =>
  sum(filesBelow(path.join(root, folder)).filter(isCode).map(linesOf));

const linesOf = (file: string): number => readFileSync(file, 'utf8').split('\n').length - 1;

const entriesOf = (folder: string): number => readdirSync(folder).filter((name) => name !== 'node_modules').length;

function filesBelow(folder: string): string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !entry.parentPath.includes('node_modules'))
    .map((entry) => path.join(entry.parentPath, entry.name));
}

function foldersBelow(folder: string): string[] {
  const below = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter(
      (entry) => entry.isDirectory() && entry.name !== 'node_modules' && !entry.parentPath.includes('node_modules'),
    )
    .map((entry) => path.join(entry.parentPath, entry.name));
  return [folder, ...below];
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0);
