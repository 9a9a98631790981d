import type { Frame } from '#modules/exceptions/decide/event.ts';

export interface Repository {
  readonly owner: string;
  readonly name: string;
}

type Place = Pick<Frame, 'module' | 'filename' | 'absPath' | 'lineno'>;

/**
 * Returns the address of the frame's line in the linked repository, at the event's release if it has one, else at the
 * tip of the default branch. The path is a good guess, as no client sends the repository's own. Null for code that is
 * in no repository (built-in, evaluated, bundled for a browser) and for a path that cannot be guessed.
 */
export function sourceLink(place: Place, repository: Repository, release: string | null): string | null {
  const path = repositoryPath(place, repository.name);
  if (path === null) return null;
  const segments = [repository.owner, repository.name, 'blob', ...refOf(release).split('/'), ...path.split('/')];
  const line = place.lineno === null ? '' : `#L${place.lineno}`;
  return `https://github.com/${segments.map((segment) => encodeURIComponent(segment.toWellFormed())).join('/')}${line}`;
}

/**
 * Returns the ref of a release: `1.4.2` for `shop@1.4.2`; a commit or a tag is its own ref; `HEAD` for anything else.
 */
function refOf(release: string | null): string {
  const ref = release?.replace(/^.*@/s, '').trim() ?? '';
  const isRef =
    /^[\w][\w./+-]{0,199}$/.test(ref) && !ref.includes('..') && !ref.endsWith('/') && !ref.endsWith('.lock');
  return isRef && /\d/.test(ref) ? ref : 'HEAD';
}

function repositoryPath(place: Place, repositoryName: string): string | null {
  const shown = cleanPath(place.filename ?? place.absPath ?? '');
  const ran = cleanPath(place.absPath ?? place.filename ?? '');
  if (shown === null || ran === null) return null;
  const path = javaPath(place.module, shown) ?? pathUnder(shown, ran, repositoryName);
  return path === null || path === '' || /(?:^|\/)\.\.(?:\/|$)/.test(path) ? null : path;
}

/** Returns a clean path: slashes forward, no scheme, no query, no `./`; null for what is no file of a repository. */
function cleanPath(path: string): string | null {
  const plain = path.replaceAll('\\', '/').replace(/(?<=.)[?#].*$/s, '');
  if (/^(?:<|\(|node:|native|internal\/|blob:|data:|eval)|\[native|\) : eval/.test(plain)) return null;
  const local = plain
    .replace(/^(?:webpack|webpack-internal|turbopack|vite|ng|app):\/\/[^/]*\/(?:\([\w-]+\)\/)?/, '')
    .replace(/^(?:file:\/\/)?(?:\/?[A-Za-z]:(?=\/))?/, '')
    .replace(/^(?:\.\/)+/, '');
  return /^[\w+.-]+:\/\//.test(local) ? null : local;
}

/**
 * Returns the path for Java and Kotlin, which send `Foo.java` and the class: by convention in the package's folders.
 */
function javaPath(module: string | null, filename: string): string | null {
  const language = /^[\w$]+\.(java|kt|scala|groovy)$/.exec(filename)?.[1];
  if (language === undefined || module === null || !module.includes('.')) return null;
  const folders = module.split('.').slice(0, -1).join('/');
  return `src/main/${language === 'kt' ? 'kotlin' : language}/${folders}/${filename}`;
}

/**
 * A path that is shown relative is taken as it is, below the folder called as the repository if the rest of the
 * absolute path has one; an absolute path is cut at that folder, or at where applications usually lie.
 */
function pathUnder(shown: string, ran: string, repositoryName: string): string | null {
  const isRelative = !shown.startsWith('/');
  const root = isRelative && ran.endsWith(`/${shown}`) ? ran.slice(0, -shown.length) : null;
  const below = afterRepository(root ?? ran, repositoryName);
  if (root !== null) return `${below ?? ''}${shown}`;
  if (below !== null) return below;
  return isRelative ? shown : afterDeployRoot(ran);
}

function afterRepository(path: string, repositoryName: string): string | null {
  const folder = `/${repositoryName.toLowerCase()}/`;
  const runner = `/work${folder.slice(0, -1)}${folder}`;
  const [at, onRunner] = [path.toLowerCase().indexOf(folder), path.toLowerCase().indexOf(runner)];
  if (onRunner !== -1) return path.slice(onRunner + runner.length);
  return at === -1 ? null : path.slice(at + folder.length);
}

/** Folders where images, platforms and people deploy an application; the rest of the path is the repository's. */
const DEPLOY_ROOTS = [
  /^\/(?:usr\/src\/app|usr\/src|var\/task|var\/www\/html|inetpub\/wwwroot|var\/www\/[^/]+|app|code|workspace|github\/workspace|project|build|src\/app)\//,
  /^\/(?:home|Users)\/[^/]+\/(?:[^/]+\/)?/,
  /^\/(?:srv|opt|builds\/[^/]+)\/[^/]+\//,
  /^\/go\/src\/[^/]+\/[^/]+\/[^/]+\//,
];

function afterDeployRoot(path: string): string | null {
  const root = DEPLOY_ROOTS.map((pattern) => pattern.exec(path)?.[0]).find((match) => match !== undefined);
  if (root !== undefined) return path.slice(root.length);
  return /\/((?:src|app|lib|pkg|cmd|internal|packages)\/.*)$/s.exec(path)?.[1] ?? null;
}
