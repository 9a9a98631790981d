import pLimit from 'p-limit';
import type { Locator, Page } from 'playwright-core';
import { expect } from 'vitest';

import type { Role } from '#kernel/permissions.ts';
import { DESK, PHONE } from '#test/browser/chromium.ts';
import type { ConsoleWorld, Visitor } from '#test/browser/console_world.ts';
import { loaded, reach } from '#test/browser/input.ts';
import { openPath } from '#test/browser/open_path.ts';
import { APART_MS, touchScreen } from '#test/browser/touch.ts';
import { type BrowserElement, placeOf } from '#test/flows/place_of.ts';

/** Least height of a control that a thumb can press. */
const THUMB_PX = 44;
const ARROWS_MAX = 40;

export type Kind = 'mouse' | 'keyboard' | 'touch';

/** Way to use the console: a flow is written once and done with a mouse, with the keyboard alone and with a thumb. */
interface InputMethod {
  press(control: Locator): Promise<void>;
  /** Replaces what the field holds. */
  write(field: Locator, text: string): Promise<void>;
  /** Chooses from a list that the browser shows. */
  choose(field: Locator, label: string): Promise<void>;
  /** Chooses from a list that is searched by typing. */
  pick(field: Locator, option: string): Promise<void>;
}

export interface ConsoleUse extends InputMethod {
  readonly kind: Kind;
  /** Returns how many acts it took so far: reaching a control, typing and choosing are one each. */
  acts(): number;
  readonly person: Visitor;
  readonly page: Page;
  readonly dialog: Locator;
  /** Returns a name of this person's own, as others make the same thing beside them. */
  own(name: string): string;
  button(name: string | RegExp, within?: Locator): Locator;
  open(path: string, title: string): Promise<void>;
  sees(text: string | RegExp): Promise<void>;
  isClosed(): Promise<void>;
  /** Goes to a page by the navigation: on a phone, many are behind *More*. */
  go(label: string, title?: string): Promise<void>;
  /** Number of presses, entries and choices so far, and the pages on the way, without ids. */
  readonly way: { steps: number; readonly pages: string[] };
  /** The console as the organization of this person uses it. */
  readonly world: ConsoleWorld;
  /** Runs a flow on shared data: one method after the other, each with the data that the one before has left. */
  alone(flow: () => Promise<void>): Promise<void>;
}

/** Pages that stand in the bar of a phone. */
const IN_BAR = new Set(['Home', 'Incidents', 'On-call', 'Services']);

const PEOPLE: Readonly<Record<Kind, string>> = { mouse: 'Mia', keyboard: 'Kim', touch: 'Tom' };

/**
 * Runs the same with three people at once, each in a browser of their own: where each of them stopped, and what was too
 * small for a thumb.
 */
export async function withEachInputMethod(
  h: ConsoleWorld,
  {
    role = 'owner',
    permissions = [],
    isApart = false,
  }: {
    readonly role?: Role;
    readonly permissions?: string[];
    /** Whether each of them has an organization of their own. */
    readonly isApart?: boolean;
  },
  flow: (use: ConsoleUse) => Promise<void>,
): Promise<string[]> {
  const kinds = Object.keys(PEOPLE) as Kind[];
  const alone = pLimit(1);
  const outcomes = await Promise.all(
    kinds.map(async (kind): Promise<string[]> => {
      const screen = kind === 'touch' ? { viewport: PHONE, isMobile: true, hasTouch: true } : { viewport: DESK };
      const quick = { serviceWorkers: 'block', reducedMotion: 'reduce' } as const;
      const world = isApart ? await h.forOrganization() : h;
      const person = await world.visitor({ role, name: PEOPLE[kind], path: '/me', ...screen, ...quick, permissions });
      const small = new Set<string>();
      try {
        await loaded(person.page, person.name);
        await flow({ ...usageOf(world, kind, person, await inputMethodOf(kind, person.page, small)), alone });
      } catch (error) {
        return [...small, `${kind}: ${textOf(error)}\n${await shownOn(person.page)}`];
      }
      return [...small];
    }),
  );
  return outcomes.flat();
}

const textOf = (error: unknown): string => (error instanceof Error ? (error.stack ?? error.message) : String(error));

/** Returns the page of the person, for readers of a failure. */
async function shownOn(page: Page): Promise<string> {
  const shown = await page
    .evaluate<string>(
      `(document.querySelector('[role=dialog]') ?? document.querySelector('main') ?? document.body).innerText`,
    )
    .catch(String);
  return `${page.url()} showed:\n${shown.slice(0, 1_500)}`;
}

function usageOf(h: ConsoleWorld, kind: Kind, person: Visitor, method: InputMethod): Omit<ConsoleUse, 'alone'> {
  const { page } = person;
  const dialog = page.getByRole('dialog');
  const way = { steps: 0, pages: [] as string[] };
  page.on('framenavigated', (frame) => {
    const path = new URL(frame.url()).pathname
      .replaceAll(/[a-z]+_[0-9a-z]{26}/g, ':id')
      .replace(/^\/a\/\w+/, '/a/:link');
    if (frame === page.mainFrame() && way.pages.at(-1) !== path) way.pages.push(path);
  });
  const acting = countingActs(method, way);
  const link = (name: string) => page.getByRole('link', { name, exact: true }).locator('visible=true').first();
  return {
    ...acting,
    way,
    world: h,
    async go(label, title = label) {
      if (kind === 'touch' && !IN_BAR.has(label))
        await acting.press(page.getByRole('button', { name: 'More', exact: true }));
      await acting.press(link(label));
      await loaded(page, title);
    },
    kind,
    person,
    page,
    dialog,
    own: (name) => `${name} of ${person.name}`,
    button: (name, within) =>
      (within ?? page)
        .getByRole('button', { name, ...(typeof name === 'string' && { exact: true }) })
        .locator('visible=true')
        .first(),
    async open(path, title) {
      await openPath(page, h.baseUrl, path);
      await loaded(page, title);
    },
    sees: (text) => page.getByText(text).locator('visible=true').first().waitFor(),
    isClosed: () => dialog.waitFor({ state: 'detached' }),
  };
}

/** Counts steps, and acts: a field that has the focus already need not be reached. */
function countingActs(method: InputMethod, way: ConsoleUse['way']): InputMethod & Pick<ConsoleUse, 'acts'> {
  let acts = 0;
  const reachActs = async (field: Locator): Promise<number> => {
    await field.waitFor({ state: 'attached' });
    return (await field.evaluate('one => one === document.activeElement')) ? 0 : 1;
  };
  return {
    acts: () => acts,
    async press(control) {
      acts += 1;
      way.steps += 1;
      await method.press(control);
    },
    async write(field, text) {
      acts += 1 + (await reachActs(field));
      way.steps += 1;
      await method.write(field, text);
    },
    async choose(field, label) {
      acts += 2;
      way.steps += 1;
      await method.choose(field, label);
    },
    async pick(field, option) {
      acts += 2 + (await reachActs(field));
      way.steps += 1;
      await method.pick(field, option);
    },
  };
}

async function inputMethodOf(kind: Kind, page: Page, small: Set<string>): Promise<InputMethod> {
  switch (kind) {
    case 'mouse':
      return byMouse(page);
    case 'keyboard':
      return byKeyboard(page);
    case 'touch':
      return await byTouch(page, small);
  }
}

/**
 * The option with this text, once the list is narrowed to such ones beside what is chosen or stands first: until the
 * server has answered, it changes under what is pressed.
 */
async function found(page: Page, text: string): Promise<Locator> {
  const options = page.getByRole('option').locator('visible=true');
  const fitting = options.filter({ hasText: text });
  const isNarrowed = async (): Promise<boolean> => {
    const [all, wanted] = await Promise.all([options.count(), fitting.count()]);
    return wanted > 0 && all - wanted <= 1;
  };
  await expect.poll(isNarrowed).toBe(true);
  return fitting.first();
}

const roleOf = (element: BrowserElement): string =>
  element.getAttribute('role') ?? (element.tagName === 'INPUT' ? (element.type ?? '') : '');

/** Presses it until it is chosen: a list that changes at that moment has put something else in its place. */
async function pickBy(press: InputMethod['press'], field: Locator, option: string): Promise<void> {
  const wanted = await found(field.page(), option);
  const isOpen = async (): Promise<boolean> =>
    (await wanted.count()) > 0 && (await field.inputValue().catch(() => '')) === option;
  const isChosen = async (): Promise<boolean> => {
    if (await isOpen()) await press(wanted);
    return !(await isOpen());
  };
  await expect.poll(isChosen).toBe(true);
}

function byPointing(press: InputMethod['press']): InputMethod {
  return {
    press,
    async write(field, text) {
      await press(field);
      await field.fill(text);
    },
    async choose(field, label) {
      // The list that opens is the browser's or the phone's own.
      await field.selectOption({ label });
    },
    async pick(field, option) {
      await press(field);
      await field.fill(option);
      await pickBy(press, field, option);
    },
  };
}

function byMouse(page: Page): InputMethod {
  const press = async (control: Locator): Promise<void> => {
    await control.waitFor({ state: 'attached' });
    await isReady(control);
    const { x, y } = await placeOf(control);
    await page.mouse.click(x, y);
  };
  return byPointing(press);
}

function byKeyboard(page: Page): InputMethod {
  const { keyboard } = page;
  const go = async (control: Locator): Promise<void> => {
    await isReady(control);
    await reach(control);
    // After the focus has moved, a person means what has it.
    await keyboard.press('Shift');
  };
  const isChecked = (control: Locator) => control.isChecked();
  return {
    async press(control) {
      await control.waitFor({ state: 'attached' });
      const role: string = await control.evaluate(roleOf);
      if (role === 'menuitem') {
        const focused = control.and(page.locator(':focus'));
        await arrowUntil(page, 'ArrowDown', async () => (await focused.count()) > 0);
        await keyboard.press('Shift');
        await keyboard.press('Enter');
      } else if (role === 'radio') {
        await reachGroup(control);
        await keyboard.press('Shift');
        await keyboard.press('Space');
        if (!(await isChecked(control))) await arrowUntil(page, 'ArrowDown', () => isChecked(control));
      } else {
        await go(control);
        await keyboard.press(role === 'checkbox' || role === 'switch' ? 'Space' : 'Enter');
      }
    },
    async write(field, text) {
      await go(field);
      await keyboard.press('Control+a');
      if (text === '') await keyboard.press('Delete');
      else await keyboard.type(text);
    },
    async choose(field, label) {
      await go(field);
      await keyboard.type(label);
      const chosen = () => field.evaluate((list: BrowserElement) => list.selectedOptions[0]?.label);
      if ((await chosen()) !== label) await arrowUntil(page, 'ArrowDown', async () => (await chosen()) === label);
    },
    async pick(field, option) {
      await go(field);
      await keyboard.press('Control+a');
      await keyboard.type(option);
      const wanted = await found(page, option);
      const selected = page
        .locator('[role=option]:is([data-combobox-selected], [data-active], [aria-selected=true])')
        .filter({ hasText: option });
      // As long as the list is there and the text is as typed nothing is chosen yet, and a person sees that.
      const isOpen = async (): Promise<boolean> =>
        (await wanted.count()) > 0 && (await field.inputValue().catch(() => '')) === option;
      const isChosen = async (): Promise<boolean> => {
        if (!(await isOpen())) return true;
        await keyboard.press('ArrowDown');
        if ((await selected.count()) > 0) await keyboard.press('Enter');
        return !(await isOpen());
      };
      await expect.poll(isChosen).toBe(true);
    },
  };
}

async function arrowUntil(page: Page, key: string, isThere: () => Promise<boolean>): Promise<void> {
  for (let pressed = 0; pressed < ARROWS_MAX; pressed += 1) {
    if (await isThere()) return;
    await page.keyboard.press(key);
  }
  expect(await isThere(), `${key} leads there`).toBe(true);
}

/** Tab leads to one of a group of radio buttons, the arrows to the others. */
async function reachGroup(control: Locator): Promise<void> {
  const name = await control.getAttribute('name');
  const page = control.page();
  const isInGroup = `document.activeElement.name === ${JSON.stringify(name)}`;
  for (let tabs = 0; tabs < 150; tabs += 1) {
    if (await page.evaluate<boolean>(isInGroup)) return;
    await page.keyboard.press('Tab');
  }
  throw new Error(`Tab does not lead to the group of ${String(control)}`);
}

async function byTouch(page: Page, small: Set<string>): Promise<InputMethod> {
  const finger = await touchScreen(page);
  const press = async (control: Locator): Promise<void> => {
    await control.waitFor({ state: 'attached' });
    await isReady(control);
    const { x, y, height } = await placeOf(control);
    if (Math.round(height) < THUMB_PX) small.add(`${Math.round(height)} px high: ${String(control)} at ${page.url()}`);
    await finger.tap({ x, y }, APART_MS);
  };
  return byPointing(press);
}

/** A person waits until it can be pressed. */
async function isReady(control: Locator): Promise<void> {
  await expect.poll(() => control.isEnabled()).toBe(true);
}
