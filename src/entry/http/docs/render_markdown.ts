import GithubSlugger from 'github-slugger';
import { Marked, type Tokens } from 'marked';

import { type GuideFile, resolveLink } from '#entry/http/docs/guide_files.ts';
import { escapeHtml } from '#notify/texts/html.ts';

export interface Section {
  readonly id: string;
  readonly title: string;
}

/** Guide as HTML. */
export interface Guide extends GuideFile {
  readonly title: string;
  /** Headings of the second level. */
  readonly sections: readonly Section[];
  /** Ids of every place in the guide that a link can lead to. */
  readonly ids: ReadonlySet<string>;
  readonly html: string;
}

/** Converts a path in the repository to an address relative to the page; null if nothing is served for it. */
export type AddressOf = (file: string) => string | null;

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
