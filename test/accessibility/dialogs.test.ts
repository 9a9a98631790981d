import { type Page } from 'playwright-core';
import { expect, test } from 'vitest';

import { axeViolations } from '#test/browser/axe.ts';
import { DESK, inBrowser, PHONE } from '#test/browser/chromium.ts';
import { openConsole } from '#test/browser/console_world.ts';
import {
  createSampleData,
  type OpenablePage,
  dialogsOf,
  OVERLAY,
  problemsOf,
  type SampleIds,
} from '#test/browser/sample_pages.ts';

/** Right to left, with a character that overrides the direction of the text after it, 118 characters long. */
const HEBREW = 'תשלומים';
const awkwardName = (name: string): string => `${HEBREW} \u202E${name} ${'a'.repeat(118)}`.slice(0, 118);

/** Finds names that change the direction of the text around them, or take more than three lines. */
const NAME_PROBLEMS = `(() => {
  const faults = [];
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let text = texts.nextNode(); text !== null; text = texts.nextNode()) {
    const { parentElement: at, data } = text;
    if (!data.includes('${HEBREW}') || at.closest('script, style, noscript')) continue;
    const where = at.outerHTML.slice(0, 120);
    if (/[\\u202A-\\u202E]/.test(data)) faults.push('overrides the direction: ' + where);
    if (!at.closest('bdi, [dir]:not(html)') && !/\\u2068[^\\u2069]*${HEBREW}[^\\u2069]*\\u2069/.test(data)) faults.push('is not isolated: ' + where);
    if (!at.checkVisibility() || at.closest('.hidden-text, option')) continue;
    const sentence = at.closest('bdi[dir=ltr]') !== null;
    const cell = at.closest('bdi') ?? at;
    let box = cell;
    for (let outer = cell; outer !== null; outer = outer.parentElement) {
      if (getComputedStyle(outer).webkitLineClamp !== 'none') box = outer;
    }
    const { height } = box.getBoundingClientRect();
    const line = parseFloat(getComputedStyle(cell).lineHeight) || 1.5 * parseFloat(getComputedStyle(cell).fontSize);
    if (!sentence && height > 3.6 * line) faults.push('takes ' + Math.round(height / line) + ' lines: ' + where);
  }
  return faults;
})()`;

const pagesOf = (ids: SampleIds & { readonly invitationPath: string }): readonly OpenablePage[] => {
  const { serviceId, scheduleId, incidentId, teamId, policyId, dashboardId, invitationPath } = ids;
  return [
    '',
    'incidents',
    'incidents?status=all',
    `incidents/${incidentId}`,
    'oncall',
    `oncall/schedules/${scheduleId}`,
    `oncall/schedules/${scheduleId}/edit`,
    'oncall/schedules/new',
    'dashboards',
    `dashboards/${dashboardId}`,
    'services',
    `services/${serviceId}`,
    `services/${serviceId}/settings`,
    `services/${serviceId}/alerts`,
    'oncall/teams',
    `oncall/teams/${teamId}`,
    'oncall/policies',
    `oncall/policies/${policyId}`,
    `oncall/policies/${policyId}/edit`,
    `oncall/simulator?service=${serviceId}`,
    'me',
    invitationPath,
    ...['members', 'api-keys', 'apps', 'agents', 'audit', 'billing', 'delivery'].map((of) => `settings/${of}`),
  ].map((path): OpenablePage => [path]);
};

/** Checks an overlay as a whole; `pages.test.ts` checks the pages themselves. */
const look =
  (schemes: 'both' | 'shown') =>
  async (page: Page, isOpen: boolean): Promise<string[]> => [
    ...(await page.evaluate<string[]>(NAME_PROBLEMS)),
    ...(isOpen ? await axeViolations(page, OVERLAY, schemes) : []),
  ];

inBrowser('every dialog and menu', () => {
  test('is accessible, fits the screen and holds right-to-left names of 118 characters, on a desktop in light and in dark, and on a phone in dark', async () => {
    const h = await openConsole();
    const desk = await h.visitor({ colorScheme: 'light', viewport: DESK });
    const phone = await h.visitor({ colorScheme: 'dark', viewport: PHONE, isMobile: true, as: desk });
    // What opens has the same colours on both: no style sheet gives it others on a narrow screen.
    const walk = async (all: readonly OpenablePage[]): Promise<string[]> => {
      const both = problemsOf(desk.page, h, all, look('both'));
      return (await Promise.all([both, problemsOf(phone.page, h, all, look('shown'))])).flat();
    };
    // Offered while there is no team.
    const first: readonly OpenablePage[] = [
      ['', 'Set up paging'],
      ['oncall', 'Create a team'],
    ];
    expect(await walk(first)).toEqual([]);
    const ids = await createSampleData(h, desk, awkwardName);
    expect(await walk([...pagesOf(ids), ...dialogsOf(ids)])).toEqual([]);
  });
});
