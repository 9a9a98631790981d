import { escapeHtml } from '#notify/texts/html.ts';

/** What stands on the screen while the console is on its way to a slow phone. */
export interface FirstFrame {
  readonly organization: string;
  /** What the page is about; null where its data does not say it. */
  readonly title: string | null;
}

/** It stands where the console draws the same (src/console/global.css). */
export function toHtml({ organization, title }: FirstFrame): string {
  const heading = title === null ? '' : `<h1>${isolated(title)}</h1>`;
  return `<div class="first-frame"><p>${isolated(organization)}</p>${heading}</div>`;
}

const isolated = (name: string): string => `<bdi>${escapeHtml(name)}</bdi>`;

/** How the data of a page calls what its address names; null where it does not. */
export function titleIn(results: readonly unknown[], id: string): string | null {
  for (const result of results) {
    const answer = result as Readonly<Record<string, unknown>>;
    const title = answer['title'] ?? answer['name'];
    if (typeof title === 'string' && Object.values(answer).includes(id)) return title;
  }
  return null;
}
