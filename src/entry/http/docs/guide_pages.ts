import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';

import GithubSlugger from 'github-slugger';
import { Marked, type Tokens } from 'marked';

import { escapeHtml } from '#notify/texts/html.ts';

export interface GuidePages {
  /** Returns the whole page of that name; null if there is none. */
  findPage(name: string): string | null;
  /** Returns the picture `images/….png`; null if there is none. */
  findImage(name: string): Buffer | null;
  /** Returns the page for a name without a guide. */
  notFoundPage(name: string): string;
}

export async function renderGuides(): Promise<GuidePages> {
  const [files, images] = await Promise.all([readGuideFiles(), readGuideImages()]);
  const guides = new Map(
    files.map((file) => [file.name, renderMarkdown(file, addressesFrom(file.name, files, images))]),
  );
  const groups = groupsOf(guides);
  const pages = new Map([...guides].map(([name, guide]) => [name, pageOfGuide(guide, groups)]));
  return {
    findPage: (name) => pages.get(name) ?? null,
    findImage: (name) => images.get(name) ?? null,
    notFoundPage: (name) => notFound(name, groups),
  };
}

/** Returns a function that makes relative addresses, which work under whatever path a proxy gives the product. */
function addressesFrom(
  name: string,
  files: readonly GuideFile[],
  images: ReadonlyMap<string, Buffer>,
): (file: string) => string | null {
  const names = new Map(files.map((guide) => [guide.file, guide.name]));
  return (file) => {
    const image = file.replace(/^src\/docs\//, '');
    const target = images.has(image) ? image : names.get(file);
    return target === undefined ? null : addressBetween(name, target);
  };
}

function addressBetween(from: string, to: string): string {
  return upFrom(from) + to;
}

/** Returns the relative path from a page below `/docs/` to that folder. */
function upFrom(name: string): string {
  return '../'.repeat(name.split('/').length - 1);
}

interface Group {
  readonly title: string;
  readonly guides: readonly Guide[];
}

/** Returns the navigation: the headings of the list of guides, and the links below each. */
function groupsOf(guides: ReadonlyMap<string, Guide>): Group[] {
  const list = guides.get(LIST_OF_GUIDES);
  if (list === undefined) throw new Error('src/docs/README.md, the list of guides, is missing');
  const byFile = new Map([...guides.values()].map((guide) => [guide.file, guide]));
  const [, ...parts] = list.markdown.split(/^## /m);
  return parts.map((part) => {
    const [title = ''] = part.split('\n');
    const links = [...part.matchAll(/^- \[[^\]]+\]\(([^)]+)\)/gm)];
    const guides = links.map(([, href = '']) => byFile.get(resolveLink(list.file, href).file));
    return { title, guides: guides.filter((guide) => guide !== undefined) };
  });
}

function pageOfGuide(guide: Guide, groups: readonly Group[]): string {
  const order = groups.flatMap((group) => group.guides);
  const place = order.findIndex(({ name }) => name === guide.name);
  const before = place > 0 ? order[place - 1] : undefined;
  const after = place === -1 ? undefined : order[place + 1];
  const step = (label: string, to: Guide | undefined) =>
    to === undefined
      ? '<span></span>'
      : `<a href="${addressBetween(guide.name, to.name)}"><small>${label}</small> ${escapeHtml(to.title)}</a>`;
  const steps =
    place === -1 ? '' : `<nav class="steps" aria-label="Guides">${step('Before', before)}${step('Next', after)}</nav>`;
  return framed(guide.name, guide.title, groups, `${guide.html}${steps}`);
}

function notFound(name: string, groups: readonly Group[]): string {
  const list = addressBetween(name, LIST_OF_GUIDES);
  return framed(
    name,
    'No such guide',
    groups,
    `<h1>There is no such guide</h1><p>Nothing is served at this address. <a href="${list}">All guides</a></p>`,
  );
}

/** Renders a page in the frame of the reference; see `reference/page.html`. */
function framed(name: string, title: string, groups: readonly Group[], content: string): string {
  const docs = upFrom(name);
  const contents = groups.map((group) => {
    const items = group.guides.map((guide) => entryOf(name, guide)).join('');
    return `<h2>${escapeHtml(group.title)}</h2><ul>${items}</ul>`;
  });
  return `<!doctype html>
<html lang="en" class="guides">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escapeHtml(title)} · Tocsin</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="${docs}frame.css">
<link rel="stylesheet" href="${docs}guides.css">
</head>
<body>
<a class="skip" href="#guide">Skip to the guide</a>
<header class="top">
<button class="menu" type="button" aria-expanded="false" aria-controls="contents">Contents</button>
<strong>Tocsin</strong>
<nav aria-label="Documentation">
<a href="${docs}${LIST_OF_GUIDES}" aria-current="true">Guides</a>
<a href="${docs}../docs">API reference</a>
</nav>
</header>
<div class="columns">
<nav id="contents" aria-label="Contents">${contents.join('')}</nav>
<main id="guide">${content}</main>
</div>
<script type="module" src="${docs}frame.js"></script>
</body>
</html>
`;
}

function entryOf(name: string, guide: Guide): string {
  const isHere = guide.name === name;
  const sections = isHere
    ? guide.sections.map(({ id, title }) => `<li><a href="#${id}">${escapeHtml(title)}</a></li>`)
    : [];
  const isAbove = name.startsWith(`${guide.name}/`);
  const current = isHere ? ' aria-current="page"' : isAbove ? ' aria-current="true"' : '';
  return (
    `<li><a href="${addressBetween(name, guide.name)}"${current}>${escapeHtml(guide.title)}</a>` +
    `${sections.length === 0 ? '' : `<ul>${sections.join('')}</ul>`}</li>`
  );
}

interface Section {
  readonly id: string;
  readonly title: string;
}

export interface Guide extends GuideFile {
  readonly title: string;
  /** Headings of the second level. */
  readonly sections: readonly Section[];
  /** Ids of every place in the guide that a link can lead to. */
  readonly ids: ReadonlySet<string>;
  readonly html: string;
}

/** Converts a path in the repository to an address relative to the page; null if nothing is served for it. */
type AddressOf = (file: string) => string | null;

/** Renders one guide. Anchors are those of GitHub, so that a link leads to the same place here and there. */
export function renderMarkdown(guide: GuideFile, addressOf: AddressOf): Guide {
  const slugger = new GithubSlugger();
  const sections: Section[] = [];
  const ids = new Set<string>();
  let title = guide.name;
  const marked = new Marked({ gfm: true });
  marked.use({
    renderer: {
      heading({ tokens, depth }: Tokens.Heading) {
        const text = this.parser.parseInline(tokens, this.parser.textRenderer);
        const inner = this.parser.parseInline(tokens);
        const id = slugger.slug(unescapeHtml(text));
        ids.add(id);
        if (depth === 1) title = unescapeHtml(text);
        if (depth === 1) return `<h1 id="${id}">${inner}</h1>\n`;
        if (depth === 2) sections.push({ id, title: unescapeHtml(text) });
        const label = `Link to “${text}”`;
        return `<h${depth} id="${id}">${inner} <a class="anchor" href="#${id}" aria-label="${label}">#</a></h${depth}>\n`;
      },
      link({ href, tokens }: Tokens.Link) {
        const inner = this.parser.parseInline(tokens);
        if (/^(https?|mailto):/.test(href))
          return `<a href="${escapeHtml(href)}" rel="noopener noreferrer">${inner}</a>`;
        const { file, hash } = resolveLink(guide.file, href);
        const address = addressOf(file);
        return address === null ? inner : `<a href="${escapeHtml(address + hash)}">${inner}</a>`;
      },
      image({ href, text }: Tokens.Image) {
        const address = addressOf(resolveLink(guide.file, href).file);
        return address === null ? '' : `<img src="${escapeHtml(address)}" alt="${escapeHtml(text)}" loading="lazy">`;
      },
      code({ text, lang }: Tokens.Code) {
        const label = lang === undefined || lang === '' ? 'Text' : `Code, ${lang}`;
        return `<pre tabindex="0" role="group" aria-label="${escapeHtml(label)}"><code>${escapeHtml(text)}</code></pre>\n`;
      },
      // The guides contain no HTML.
      html({ text }: Tokens.HTML | Tokens.Tag) {
        return escapeHtml(text);
      },
    },
  });
  const html = marked
    .parse(guide.markdown, { async: false })
    .replaceAll('<table>', '<div class="table" tabindex="0" role="group" aria-label="Table"><table>')
    .replaceAll('</table>', '</table></div>');
  return { ...guide, title, sections, ids, html };
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&amp;': '&',
  '&lt;': '<',
  '&gt;': '>',
  '&quot;': '"',
  '&#39;': "'",
};

/** Reverses the escaping of the text renderer. */
function unescapeHtml(text: string): string {
  return text.replaceAll(/&(?:amp|lt|gt|quot|#39);/g, (entity) => ENTITIES[entity] ?? entity);
}

const ROOT = path.join(import.meta.dirname, '../../../..');

/** Folder of the guides, which can also be read in the repository. */
const GUIDES_FOLDER = path.join(ROOT, 'src/docs');

interface GuideFile {
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
async function readGuideImages(): Promise<ReadonlyMap<string, Buffer>> {
  const names = await readdir(path.join(GUIDES_FOLDER, 'images'));
  const images = names.map(async (name): Promise<[string, Buffer]> => {
    return [`images/${name}`, await readFile(path.join(GUIDES_FOLDER, 'images', name))];
  });
  return new Map(await Promise.all(images));
}

/** Name of the list of all guides, whose order is that of the navigation. */
const LIST_OF_GUIDES = 'guides';

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
