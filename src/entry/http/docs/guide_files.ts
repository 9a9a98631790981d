import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';

const ROOT = path.join(import.meta.dirname, '../../../..');

/** Folder of the guides, which can also be read in the repository. */
const GUIDES_FOLDER = path.join(ROOT, 'src/docs');

/** Markdown file that is served as a page. */
export interface GuideFile {
  /** Path in the repository, with slashes: `src/docs/on_call.md`. */
  readonly file: string;
  /** Part of its address after `/docs/`: `on_call`. */
  readonly name: string;
  readonly markdown: string;
}

/** Reads every guide, and the README of the repository, which holds the table of settings. */
export async function readGuideFiles(): Promise<GuideFile[]> {
  const names = await readdir(GUIDES_FOLDER, { recursive: true });
  const files = names
    .filter((file) => file.endsWith('.md'))
    .map((file) => `src/docs/${file.split(path.sep).join('/')}`)
    .toSorted();
  return await Promise.all(
    ['README.md', ...files].map(async (file) => {
      return { file, name: nameOf(file), markdown: await readFile(path.join(ROOT, file), 'utf8') };
    }),
  );
}

/** Reads the images of the guides, by the part after `/docs/` in their address. */
export async function readGuideImages(): Promise<ReadonlyMap<string, Buffer>> {
  const names = await readdir(path.join(GUIDES_FOLDER, 'images'));
  const images = names.map(async (name): Promise<[string, Buffer]> => {
    return [`images/${name}`, await readFile(path.join(GUIDES_FOLDER, 'images', name))];
  });
  return new Map(await Promise.all(images));
}

/** Name of the list of all guides, whose order is that of the navigation. */
export const LIST_OF_GUIDES = 'guides';

function nameOf(file: string): string {
  if (file === 'README.md') return 'readme';
  if (file === 'src/docs/README.md') return LIST_OF_GUIDES;
  return file.replace(/^src\/docs\//, '').replace(/(\/README)?\.md$/, '');
}

/** Resolves a relative link in a file of the repository to a path in the repository and the part after `#`. */
export function resolveLink(fromFile: string, href: string): { readonly file: string; readonly hash: string } {
  const [target = '', anchor] = href.split('#');
  const file = target === '' ? fromFile : path.posix.join(path.posix.dirname(fromFile), target);
  return { file, hash: anchor === undefined ? '' : `#${anchor}` };
}
