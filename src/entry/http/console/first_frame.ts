import { escapeHtml } from '#notify/texts/html.ts';

/** First content on the screen while the console loads on a slow phone. */
export interface FirstFrame {
  readonly organization: string;
  /** Name of the page's subject; null if its data has none. */
  readonly title: string | null;
}

/** Renders the frame in the place where the console draws the same (src/console/global.css). */
export function toHtml({ organization, title }: FirstFrame): string {
  const heading = title === null ? '' : `<h1>${isolated(title)}</h1>`;
  return `<div class="first-frame"><p>${isolated(organization)}</p>${heading}</div>`;
}

const isolated = (name: string): string => `<bdi>${escapeHtml(name)}</bdi>`;

/** Returns the title or name of the result that has this id; null if no result has it. */
export function titleIn(results: readonly unknown[], id: string): string | null {
  for (const result of results) {
    const answer = result as Readonly<Record<string, unknown>>;
    const title = answer['title'] ?? answer['name'];
    if (typeof title === 'string' && Object.values(answer).includes(id)) return title;
  }
  return null;
}
