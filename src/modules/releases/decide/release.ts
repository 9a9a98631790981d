/**
 * A parsed release. `1.4.0` and `v12` count up, `2024.5.1` begins with its year, `20240102` is a date: the kinds cannot be
 * compared, as who changes from one to another begins anew.
 */
interface Version {
  readonly kind: 'version' | 'year' | 'date';
  readonly product: string | null;
  readonly numbers: readonly number[];
  readonly prerelease: readonly string[];
  /** Commits since the version, as `git describe` counts them. */
  readonly commits: number;
  /** Commit, and other words that order nothing, such as `production`. */
  readonly marks: string;
  /** Parts after the plus: in mobile applications, the number of the build. */
  readonly build: readonly string[];
}

const VERSION =
  /^(?:(.{1,150})@)?(v?)(\d{1,14}(?:\.\d{1,9}){0,9})(?:-([0-9A-Za-z.-]{1,100}))?(?:\+([0-9A-Za-z.-]{1,100}))?$/s;
/** Date, or a minute or second of it, with or without hyphens: digits that begin with a year of our time. */
const DATE = /^20\d\d(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])(?:(?:[01]\d|2[0-3])[0-5]\d(?:[0-5]\d)?)?(?:\.|$)/;
const YEAR = /^20\d\d\./;
const DAY = /^(.{1,150}@)?(20\d\d)-([01]\d)-([0-3]\d)(?=$|\.)/s;
/** Longest count without a dot; a longer number may be a commit. */
const COUNT_DIGITS_MAX = 6;

/**
 * Returns below 0 when `a` is the older release, above 0 when it is the newer one, 0 for the same; null when unknown.
 * Both are versions (`1.4.0`, `v12`, `shop@1.4.0-rc.1+build`) or both dates (`20240102`, `2024-01-02.3`), of the same
 * product, and semver orders them. Of dates, the one that says more of the time is compared as far as the other says
 * it; and a bare count with a version as long as they begin alike, as `1234` and `1.0.0` are two ways of naming. Builds
 * of one version are ordered by their numbers (`1.2.3+44`, `1.2.3+45`), and are that version if only one of the two
 * names a build. `1.4.0-2` may be a revision of `1.4.0` as well as come before it. A commit equals itself, and cannot
 * be compared with another; the same holds for a commit or an environment behind a version (`1.4.0-3f2a1bc`,
 * `1.4.0-production`). `1.4.0-12-g3f2a1bc` is twelve commits behind `1.4.0`, as `git describe` means it.
 */
export function compareReleases(a: string, b: string): number | null {
  if (a === b) return 0;
  const [first, second] = [parseVersion(a), parseVersion(b)];
  if (first === null || second === null) return null;
  if (first.product !== second.product || first.kind !== second.kind) return null;
  const order = compareVersions(first, second);
  if (order !== 0) return order;
  return first.marks === second.marks ? compareBuilds(first.build, second.build) : null;
}

/** Whether both name one release, as `v12` and `12` do; two builds of one version are two releases. */
export function isSameRelease(a: string, b: string): boolean {
  if (a === b) return true;
  const [first, second] = [parseVersion(a), parseVersion(b)];
  return first?.build.join('.') === second?.build.join('.') && compareReleases(a, b) === 0;
}

/** Returns the line that comparable releases share; null for one that can be compared only with itself. */
export function releaseLineOf(release: string): string | null {
  const version = parseVersion(release);
  return version === null ? null : `${version.kind} ${version.product ?? ''}`;
}

/** Whether `a` is known to be the older release. Commits and unknown releases are never older. */
export function isOlderRelease(a: string | null, b: string | null): boolean {
  return a !== null && b !== null && (compareReleases(a, b) ?? 0) < 0;
}

function parseVersion(release: string): Version | null {
  const match = VERSION.exec(release.trim().replace(DAY, '$1$2$3$4'));
  if (match === null) return null;
  const [, product, mark, numbers = '', prerelease, build] = match;
  const isDate = DATE.test(numbers);
  const isCount =
    mark !== '' || numbers.includes('.') || (numbers.length <= COUNT_DIGITS_MAX && prerelease === undefined);
  if (!isDate && !isCount) return null;
  return {
    kind: isDate ? 'date' : YEAR.test(numbers) ? 'year' : 'version',
    product: product ?? null,
    numbers: numbers.split('.').map(Number),
    ...readPrerelease(prerelease ?? ''),
    build: build === undefined ? [] : build.split('.'),
  };
}

const DESCRIBED = /^(?:(.+)-)?(\d{1,9})-(g[0-9a-f]{7,40}(?:-dirty)?)$/;
/** Words by which people and tools call versions before a version. */
const STAGE =
  /^(?:a|alpha|b|beta|build|canary|ci|cr|dev|develop|ea|edge|insiders?|m|milestone|next|nightly|p|pre|preview|prerelease|rc|snapshot|test|unstable)[.\d-]*$/i;
const COMMIT = /^g?(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{7,40}$/i;

/** Divides what stands behind a version into what orders it and what does not. */
function readPrerelease(text: string): Pick<Version, 'prerelease' | 'commits' | 'marks'> {
  const [, before, commits, commit] = DESCRIBED.exec(text) ?? [];
  const rest = commits === undefined ? text : (before ?? '');
  const parts = rest === '' ? [] : rest.split('.');
  const end = parts.findIndex((part) => COMMIT.test(part) || (!/^\d/.test(part) && !STAGE.test(part)));
  const prerelease = end === -1 ? parts : parts.slice(0, end);
  const marks = [...parts.slice(prerelease.length), ...(commit === undefined ? [] : [commit])];
  return { prerelease, commits: Number(commits ?? 0), marks: marks.join('.') };
}

function compareVersions(a: Version, b: Version): number | null {
  if (a.kind === 'date') {
    const [first, second] = [String(a.numbers[0]), String(b.numbers[0])];
    const digits = Math.min(first.length, second.length);
    const [day, otherDay] = [first.slice(0, digits), second.slice(0, digits)];
    if (first.length !== second.length) return day === otherDay ? null : Number(day) - Number(otherDay);
  } else if ((a.numbers.length === 1) !== (b.numbers.length === 1) && a.numbers[0] !== b.numbers[0]) return null;
  for (let i = 0; i < Math.max(a.numbers.length, b.numbers.length); i += 1) {
    const difference = (a.numbers[i] ?? 0) - (b.numbers[i] ?? 0);
    if (difference !== 0) return difference;
  }
  // `1.4.0-2` may come before `1.4.0`, or be a revision of it.
  if (ambiguityOf(a) !== ambiguityOf(b)) return null;
  return comparePrereleases(a.prerelease, b.prerelease) || a.commits - b.commits;
}

/** Words that some put behind a version for what comes after it: revisions of packages, patches, builds, places. */
const AMBIGUOUS = /^(?:\d[\d-]*|(?:build|ci|p|test)[\d-]*)$/i;

/** Returns the word of an ambiguous prerelease without its number; null for any other. */
function ambiguityOf({ prerelease: [first = ''] }: Version): string | null {
  return AMBIGUOUS.test(first) ? first.replace(/[\d-]+$/, '').toLowerCase() : null;
}

/**
 * Compares by semver 11.3 and 11.4: prereleases before releases, numbers before words, shorter before longer. But a
 * number at the end of a word counts as one.
 */
function comparePrereleases(a: readonly string[], b: readonly string[]): number {
  if (a.length === 0 || b.length === 0) return b.length - a.length;
  for (const [i, left] of a.entries()) {
    const right = b[i];
    if (right === undefined) return 1;
    const difference = compareIdentifiers(left, right);
    if (difference !== 0) return difference;
  }
  return a.length - b.length;
}

/** Compares builds; null if they differ in more than numbers, such as commits. */
function compareBuilds(a: readonly string[], b: readonly string[]): number | null {
  if (a.length === 0 || b.length === 0) return 0;
  for (const [i, left] of a.entries()) {
    const right = b[i];
    if (right === undefined) return 1;
    if (left === right) continue;
    if (!/^\d{1,15}$/.test(left) || !/^\d{1,15}$/.test(right)) return null;
    const difference = Number(left) - Number(right);
    if (difference !== 0) return difference;
  }
  return a.length - b.length;
}

const DIGITS_AT_END = /\d*$/;

/** Compares words first and the numbers at their ends next, so that the order holds for any three. */
function compareIdentifiers(a: string, b: string): number {
  const [aIsNumber, bIsNumber] = [/^\d+$/.test(a), /^\d+$/.test(b)];
  if (aIsNumber !== bIsNumber) return aIsNumber ? -1 : 1;
  const [first = '', second = ''] = [DIGITS_AT_END.exec(a)?.[0], DIGITS_AT_END.exec(b)?.[0]];
  const [word, otherWord] = [a.slice(0, a.length - first.length), b.slice(0, b.length - second.length)];
  // `rc9` is before `rc10`, by its number, as those who name it so mean it.
  if (word === otherWord) return compareDigits(first, second);
  return word < otherWord ? -1 : 1;
}

/** Compares numbers of any length; a word without one is before those with one. */
function compareDigits(a: string, b: string): number {
  if (a === '' || b === '') return a.length - b.length;
  const [first, second] = [a.replace(/^0+/, ''), b.replace(/^0+/, '')];
  if (first.length !== second.length || first === second) return first.length - second.length;
  return first < second ? -1 : 1;
}

/** Returns a name as it stands in addresses and on command lines: `Web shop (EU)` is `web-shop-eu`. */
export function slugOf(name: string): string {
  return name
    .normalize('NFKD')
    .replaceAll(/\p{M}/gu, '')
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]+/gu, '-')
    .replaceAll(/^-+|-+$/g, '');
}

export interface Commit {
  readonly id: string;
  readonly author: string | null;
  readonly message: string | null;
  /** Time in RFC 3339, or null. */
  readonly at: string | null;
}
