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

/** The reads whose answers are what a page is about, and where they name it. */
const TITLES: Readonly<Record<string, string>> = { get_incident: 'title', get_service: 'name' };

/** What the data of a page names it. */
export function titleIn(reads: readonly { readonly action: string; readonly result: unknown }[]): string | null {
  for (const { action, result } of reads) {
    const title = (result as Readonly<Record<string, unknown>>)[TITLES[action] ?? ''];
    if (typeof title === 'string') return title;
  }
  return null;
}
