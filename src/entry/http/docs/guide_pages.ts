import {
  type GuideFile,
  LIST_OF_GUIDES,
  readGuideFiles,
  readGuideImages,
  resolveLink,
} from '#entry/http/docs/guide_files.ts';
import { type Guide, renderMarkdown } from '#entry/http/docs/render_markdown.ts';
import { escapeHtml } from '#notify/texts/html.ts';

export interface GuidePages {
  /** Returns the whole page of that name; null if there is none. */
  findPage(name: string): string | null;
  /** Returns the picture `images/….png`; null if there is none. */
  findImage(name: string): Buffer | null;
  /** Returns the page for a name without a guide. */
  notFoundPage(name: string): string;
}

/** Renders every guide once. */
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
