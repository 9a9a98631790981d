import { type LockedPackages, nameOf } from './lock_faults.ts';

/** Licences that require a notice at most. */
const ALLOWED: ReadonlySet<string> = new Set([
  '0BSD',
  'Apache-2.0',
  'BlueOak-1.0.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'CC0-1.0',
  'ISC',
  'MIT',
  'MIT-0',
  'Unlicense',
]);

/** Packages under other licences, by the beginning of their names, and why they are allowed. */
const EXCEPTIONS: readonly { readonly name: string; readonly licence: string; readonly because: string }[] = [
  {
    name: '@fontsource-variable/inter',
    licence: 'OFL-1.1',
    because: 'a font; src/console/fonts says what of it is passed on changed',
  },
  {
    name: 'web-push',
    licence: 'MPL-2.0',
    because: 'unchanged, and its source is public: the licence asks for no more',
  },
  { name: 'lightningcss', licence: 'MPL-2.0', because: 'a tool of the build, unchanged; nothing of it is passed on' },
];

export interface Licensed {
  readonly name: string;
  readonly version: string;
  /** Null when it is unknown. */
  readonly licence: string | null;
}

/** Everything that is installed with `--omit=dev`, by name. */
export function listLicences(packages: LockedPackages): Licensed[] {
  const licensed = Object.entries(packages)
    .filter(([, { dev }]) => dev !== true)
    .map(([place, { version = '', license }]) => {
      const name = nameOf(place);
      return { name, version, licence: license ?? licenceOfFamily(packages, name, version) };
    });
  const byNameAndVersion = new Map(licensed.map((item) => [`${item.name}@${item.version}`, item]));
  return [...byNameAndVersion.values()].toSorted((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0));
}

/** npm knows no licence of binaries for other platforms: they have that of the binary for this one. */
function licenceOfFamily(packages: LockedPackages, name: string, version: string): string | null {
  const scope = name.startsWith('@') ? name.slice(0, name.indexOf('/') + 1) : null;
  if (scope === null) return null;
  const relatives = Object.entries(packages).filter(
    ([place, locked]) => nameOf(place).startsWith(scope) && locked.version === version,
  );
  return relatives.find(([, { license }]) => license !== undefined)?.[1].license ?? null;
}

/** Packages whose licence does not allow passing them on with the product. */
export function licenceFaults(packages: LockedPackages): string[] {
  return listLicences(packages)
    .filter((item) => !isAllowed(item))
    .map(
      ({ name, version, licence }) =>
        `${name} ${version} is under ${licence ?? 'an unknown licence'}, which is not allowed`,
    );
}

/** Whether a licence expression is allowed: one alternative of `OR` must be, and every part of `AND`. */
function isAllowed({ name, licence }: Licensed): boolean {
  if (licence === null) return false;
  if (EXCEPTIONS.some((exception) => name.startsWith(exception.name) && licence === exception.licence)) return true;
  const alternatives = licence.replace(/^\((.*)\)$/, '$1').split(' OR ');
  return alternatives.some((terms) => terms.split(' AND ').every((term) => ALLOWED.has(term.trim())));
}
