import type { Browser, Page } from 'playwright-core';

import { count, duration, spreadOf } from '#infra/bench/figures.ts';
import { type BenchInstallation, printTable } from '#infra/bench/harness.ts';
import { openAs, settled, VIEWPORT, whenIs } from './browser.ts';
import { MILLION, WIDGETS, widgetMetric } from './contents.ts';

const TIMES = 7;
/** Time that a hand takes from a name to the button of the mouse. */
const HAND_MS = 150;

/** A chart of a million points: from the press on its name until it is painted. */
export async function measureMillionPoints(
  browser: Browser,
  installation: BenchInstallation,
  serviceId: string,
): Promise<void> {
  const atOnce: number[] = [];
  const byHand: number[] = [];
  let perPixel = 0;
  for (let index = 0; index < TIMES; index += 1) {
    const first = await openMillion(browser, installation, serviceId, 0);
    atOnce.push(first.ms);
    perPixel = Math.max(perPixel, first.pointsPerPixel);
    byHand.push((await openMillion(browser, installation, serviceId, HAND_MS)).ms);
  }
  const points = MILLION.series * MILLION.days * (86_400 / MILLION.stepSeconds);
  const [first, second] = [spreadOf(atOnce), spreadOf(byHand)];
  printTable([
    {
      chart: `${count(points)} points, press → painted`,
      'pressed at once, p50': duration(first.p50),
      max: duration(first.max),
      [`after ${HAND_MS} ms on the name, p50`]: duration(second.p50),
      'max ': duration(second.max),
      'points a pixel': perPixel.toFixed(2),
    },
  ]);
}

async function openMillion(
  browser: Browser,
  installation: BenchInstallation,
  serviceId: string,
  restMs: number,
): Promise<{ readonly ms: number; readonly pointsPerPixel: number }> {
  const page = await openAs(browser, installation, `explore?service=${serviceId}&range=7d&q=${MILLION.name}`);
  const answered = page.waitForResponse((response) => response.url().endsWith('/query_metrics'));
  const row = page.locator(`[data-row="${MILLION.name}"]`);
  await row.waitFor();
  await settled(page);
  const { x, y, width, height } = (await row.boundingBox()) ?? { x: 0, y: 0, width: 0, height: 0 };
  await page.evaluate(
    `addEventListener('pointerdown', ({ timeStamp }) => { globalThis.pressedAt = timeStamp; }, true)`,
  );
  await page.mouse.move(x + width / 2, y + height / 2);
  if (restMs > 0) await page.waitForTimeout(restMs);
  await page.mouse.down();
  await page.mouse.up();
  const painted = await whenIs(page, PAINTED);
  const pressed = await page.evaluate<number>('globalThis.pressedAt');
  const { result } = (await (await answered).json()) as QueriedCharts;
  const points = result.results.flatMap(({ series }) => series).map(({ values }) => values.length);
  const pixels = await page.evaluate<number>(`document.querySelector('main .uplot .u-over').clientWidth`);
  await page.context().close();
  return { ms: painted - pressed, pointsPerPixel: Math.max(...points) / pixels };
}

interface QueriedCharts {
  readonly result: { readonly results: readonly { readonly series: readonly { readonly values: number[] }[] }[] };
}

/** The lines of the first chart are on its canvas: there is colour in its middle column. */
const PAINTED = `(() => {
  const canvas = document.querySelector('main .uplot canvas');
  if (canvas === null || canvas.width === 0) return false;
  const { data } = canvas.getContext('2d').getImageData(canvas.width >> 1, 0, 3, canvas.height);
  for (let at = 0; at < data.length; at += 4) {
    if (data[at + 3] > 128 && Math.max(data[at], data[at + 1], data[at + 2]) - Math.min(data[at], data[at + 1], data[at + 2]) > 60) return true;
  }
  return false;
})()`;

/** A dashboard: until its first screen is painted, and how smooth it is. */
export async function measureDashboard(
  browser: Browser,
  installation: BenchInstallation,
  serviceId: string,
): Promise<void> {
  const dashboardId = await createDashboard(installation, serviceId);
  const opened: number[] = [];
  let requests = 0;
  for (let index = 0; index < TIMES; index += 1) {
    const page = await openAs(browser, installation, 'dashboards');
    const link = page.locator(`a[href$="${dashboardId}"]`).first();
    await link.waitFor();
    await settled(page);
    const asked: string[] = [];
    page.on('request', (request) => asked.push(request.url()));
    await page.evaluate(`addEventListener('click', ({ timeStamp }) => { globalThis.pressedAt = timeStamp; }, true)`);
    await link.click();
    const painted = await whenIs(page, SCREEN_PAINTED);
    opened.push(painted - (await page.evaluate<number>('globalThis.pressedAt')));
    requests = asked.filter((url) => url.endsWith('/query_metrics')).length;
    await page.context().close();
  }
  const page = await openAs(browser, installation, `dashboards/${dashboardId}`);
  await whenIs(page, SCREEN_PAINTED);
  await settled(page);
  const scrolled = await framesWhile(page, () => scrollDown(page));
  const scrolledAgain = await framesWhile(page, () => scrollDown(page));
  const dragged = await framesWhile(page, () => drag(page));
  await page.context().close();
  const { p50, max } = spreadOf(opened);
  printTable([
    {
      dashboard: `${WIDGETS} widgets`,
      'press → first screen, p50': duration(p50),
      max: duration(max),
      'requests for it': requests,
      'frames/s scrolling': scrolled,
      'scrolling again': scrolledAgain,
      dragging: dragged,
    },
  ]);
}

/** Every chart in view has its lines. */
const SCREEN_PAINTED = `(() => {
  const shown = [...document.querySelectorAll('main [data-widget]')].filter((one) => {
    const { top, bottom } = one.getBoundingClientRect();
    return bottom > 0 && top < innerHeight;
  });
  return shown.length > 0 && shown.every((one) => one.querySelector('.uplot canvas') !== null);
})()`;

async function createDashboard({ baseUrl, apiKey }: BenchInstallation, serviceId: string): Promise<string> {
  const layout = Array.from({ length: WIDGETS }, (_, index) => ({
    type: 'series',
    title: `Queue ${index}`,
    query: { serviceId, metricName: widgetMetric(index), aggregation: 'avg' },
    grid: { x: (index % 3) * 4, y: Math.floor(index / 3) * 5, w: 4, h: 5 },
  }));
  const answer = await fetch(`${baseUrl}/api/rest/actions/create_dashboard`, {
    method: 'POST',
    headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'Queues', layout }),
  });
  if (!answer.ok) throw new Error(`the dashboard was answered with ${answer.status}: ${await answer.text()}`);
  const { result } = (await answer.json()) as { result: { dashboardId: string } };
  return result.dashboardId;
}

/** Counts the frames a second that are shown during the work. */
async function framesWhile(page: Page, work: () => Promise<void>): Promise<string> {
  await page.evaluate(`(() => {
    globalThis.frames_ = { count: 0, began: performance.now(), isOn: true };
    const next = () => { if (globalThis.frames_.isOn) { globalThis.frames_.count += 1; requestAnimationFrame(next); } };
    requestAnimationFrame(next);
  })()`);
  await work();
  const perSecond = await page.evaluate<number>(`(() => {
    globalThis.frames_.isOn = false;
    return globalThis.frames_.count / ((performance.now() - globalThis.frames_.began) / 1000);
  })()`);
  return perSecond.toFixed(0);
}

const STEPS = 90;

/** Down the whole page and back, a step a frame, as a finger does. */
async function scrollDown(page: Page): Promise<void> {
  await page.evaluate(`new Promise((resolve) => {
    const length = document.documentElement.scrollHeight - innerHeight;
    let step = 0;
    const next = () => {
      step += 1;
      const share = step / ${STEPS};
      scrollTo(0, length * (share < 0.5 ? share * 2 : 2 - share * 2));
      if (step < ${STEPS}) requestAnimationFrame(next);
      else resolve();
    };
    requestAnimationFrame(next);
  })`);
}

/** A widget over half of the screen and back. */
async function drag(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Edit', exact: true }).click();
  const grip = page.getByRole('button', { name: /^Move or resize Queue 0/ });
  const { x, y } = (await grip.boundingBox()) ?? { x: 0, y: 0 };
  await page.mouse.move(x + 8, y + 8);
  await page.mouse.down();
  for (let step = 1; step <= STEPS; step += 1) {
    const away = Math.sin((step / STEPS) * Math.PI);
    await page.mouse.move(x + 8 + (away * VIEWPORT.width) / 2, y + 8 + (away * VIEWPORT.height) / 3);
  }
  await page.mouse.up();
}
