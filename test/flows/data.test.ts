import { expect, test } from 'vitest';

import type { Id } from '#kernel/ids.ts';
import { eventAt, groupAndStore } from '#test/modules/exceptions/given_events.ts';
import { inBrowser } from '#test/browser/chromium.ts';
import { type ConsoleWorld, openConsole } from '#test/browser/console_world.ts';
import { type ConsoleUse, withEachInputMethod } from '#test/flows/input_methods.ts';
import { givenMetrics } from '#test/kit/metrics/given_metrics.ts';

inBrowser('with a mouse, the keyboard alone, and a thumb', () => {
  test('people set up a service, watch what it sends, and sort its exceptions', async () => {
    const h = await openConsole();
    const faults = await withEachInputMethod(h, {}, async (use) => {
      const serviceId = await makeService(h, use);
      await watchMetric(h, use, serviceId);
      await changeDashboard(h, use);
      await makeRule(use, serviceId);
      await planMaintenance(use);
      await deleteRule(use);
      await sortExceptions(h, use, serviceId);
    });
    expect(faults).toEqual([]);
  });
});

async function makeService(
  h: ConsoleWorld,
  { page, dialog, own, open, button, press, write, sees, isClosed }: ConsoleUse,
) {
  await open('services', 'Services');
  await press(button('Create a service'));
  await press(button('Create', dialog));
  await dialog.getByText('A service needs a name').waitFor();
  await write(dialog.getByLabel('Name'), own('checkout'));
  await press(dialog.getByRole('checkbox', { name: /^On-call/ }));
  await press(button('Create', dialog));
  await page.getByRole('heading', { name: own('checkout'), level: 1 }).waitFor();
  await isClosed();
  const serviceId = new URL(page.url()).pathname.split('/').at(-1)! as Id<'service'>;
  const read = () => h.expectOk('get_service', { serviceId });
  await open(`services/${serviceId}/settings`, 'Service settings');
  await press(page.getByRole('switch', { name: 'On-call enabled' }));
  await press(button('Enable', dialog));
  await isClosed();
  await expect.poll(async () => (await read()).capabilities).toContain('oncall');
  await press(button('Change how long Exceptions are kept'));
  await write(dialog.getByLabel('Days'), '14');
  await press(button('Save', dialog));
  await isClosed();
  await sees('Kept for 14 days');
  await press(button('Edit'));
  await write(dialog.getByLabel('Environment'), 'production');
  await press(button('Save', dialog));
  await isClosed();
  const before = (await read()).ingestionKey;
  await press(button('Rotate'));
  await write(dialog.getByLabel(`Type ${own('checkout')} to confirm`), own('checkout'));
  await press(button('Rotate', dialog));
  await isClosed();
  await expect.poll(async () => (await read()).ingestionKey).not.toBe(before);
  return serviceId;
}

async function watchMetric(h: ConsoleWorld, use: ConsoleUse, serviceId: Id<'service'>) {
  const { page, dialog, own, open, button, press, write, choose, pick, sees, isClosed } = use;
  const series = { name: 'wait_ms', minutes: 90, everySeconds: 60 };
  await givenMetrics(
    h,
    serviceId,
    { ...series, labels: { route: '/pay' }, value: (step) => 300 + (step % 9) },
    { ...series, labels: { route: '/cart' }, value: () => 100 },
  );
  await open(`explore?service=${serviceId}`, 'Metrics');
  await write(page.getByLabel('Search metrics'), 'wait');
  await press(button(/^wait_ms/));
  await page.getByRole('slider', { name: 'Time in wait_ms' }).waitFor();
  await press(button('Split by route'));
  await button(/\/pay 30\d ms/).waitFor();
  await press(button('Only route /pay'));
  await sees('route = /pay');
  await choose(page.getByLabel('Compare with'), 'Day before');
  await press(button('Add to a dashboard'));
  await pick(dialog.getByRole('combobox', { name: 'Dashboard' }), 'A new dashboard');
  await write(dialog.getByLabel('Name of the dashboard'), own('Waits'));
  await press(dialog.getByRole('radio', { name: 'Number' }));
  await press(button('Add', dialog));
  await page.getByRole('heading', { name: own('Waits'), level: 1 }).waitFor();
  await isClosed();
}

async function changeDashboard(h: ConsoleWorld, use: ConsoleUse) {
  const { kind, page, dialog, own, button, press, write, choose, sees, isClosed } = use;
  const dashboardId = new URL(page.url()).pathname.split('/').at(-1)!;
  const titles = async (): Promise<string[]> => {
    const { layout } = await h.expectOk('get_dashboard', { dashboardId });
    const placed = layout as readonly { title: string; grid: { x: number; y: number } }[];
    return placed.toSorted((a, b) => a.grid.y - b.grid.y || a.grid.x - b.grid.x).map(({ title }) => title);
  };
  await press(button('Edit'));
  await press(button('Add a widget'));
  await choose(dialog.getByLabel('Kind'), 'Text');
  await press(button('Add', dialog));
  await dialog.getByText('Write something.').waitFor();
  await write(dialog.getByLabel('Text', { exact: true }), 'Call Anna first');
  await press(button('Add', dialog));
  await isClosed();
  await sees('Call Anna first');
  const grip = page.getByRole('button', { name: /^Move or resize Text/ });
  if (kind === 'mouse') {
    await grip.scrollIntoViewIfNeeded();
    const from = (await grip.boundingBox())!;
    const to = (await page.getByRole('button', { name: /^Move or resize wait_ms/ }).boundingBox())!;
    await page.mouse.move(from.x + 8, from.y + 8);
    await page.mouse.down();
    await page.mouse.move(to.x + 8, to.y - 60, { steps: 12 });
    await page.mouse.up();
  } else {
    await press(button('Change Text'));
    await press(page.getByRole('menuitem', { name: 'Move up' }));
  }
  await press(button('Change Text'));
  await press(page.getByRole('menuitem', { name: 'Duplicate' }));
  await press(button('Undo'));
  await press(button('Save'));
  await sees('The dashboard is saved');
  expect((await titles())[0]).toBe('Text');

  await press(button('More about this dashboard'));
  await press(page.getByRole('menuitem', { name: 'Delete' }));
  await press(button('Delete', dialog));
  await page.getByRole('heading', { name: 'Dashboards', level: 1 }).waitFor();
  await isClosed();
  await page.getByRole('link', { name: own('Waits') }).waitFor({ state: 'detached' });
}

async function makeRule({ page, own, open, button, press, write, sees }: ConsoleUse, serviceId: Id<'service'>) {
  await open(`rules/new?service=${serviceId}&metric=wait_ms`, 'Create a rule');
  await write(page.getByLabel('Threshold', { exact: true }).first(), '150');
  await sees(/^It would have opened/);
  await write(page.getByLabel('Name', { exact: true }), '');
  await press(button('Create'));
  await sees('A rule needs a name');
  await write(page.getByLabel('Name', { exact: true }), own('Slow'));
  await press(button('Create'));
  await page.getByRole('heading', { name: own('Slow'), level: 1 }).waitFor();
  await press(page.getByRole('link', { name: 'Edit' }).or(button('Edit')).first());
  await page.getByRole('heading', { name: 'Edit the rule', level: 1 }).waitFor();
  await write(page.getByLabel('Threshold', { exact: true }).first(), '400');
  await press(button('Save'));
  await page.getByRole('heading', { name: own('Slow'), level: 1 }).waitFor();
  await open('rules', 'Rules');
  await press(page.getByRole('switch', { name: `${own('Slow')} enabled` }));
  await sees(`${own('Slow')} is disabled.`);
  await press(page.getByRole('alert').getByRole('button', { name: 'Undo' }).last());
  await page.getByRole('switch', { name: `${own('Slow')} enabled`, checked: true }).waitFor({ state: 'attached' });
}

async function deleteRule({ page, dialog, own, open, button, press, sees, isClosed }: ConsoleUse) {
  await open('rules', 'Rules');
  await press(button(`More for ${own('Slow')}`));
  await press(page.getByRole('menuitem', { name: 'Delete' }));
  await press(button('Delete', dialog));
  await sees(`${own('Slow')} is deleted.`);
  await isClosed();
}

async function planMaintenance({ page, dialog, own, open, button, press, write, pick, isClosed }: ConsoleUse) {
  await open('rules', 'Rules');
  await press(button('Maintenance'));
  await press(button('New maintenance', dialog));
  await write(dialog.getByLabel('What for'), own('Upgrade'));
  await pick(dialog.getByRole('combobox', { name: 'Service' }), own('checkout'));
  await press(button('1 h', dialog));
  await press(button('Create', dialog));
  const window = dialog.getByRole('listitem').filter({ hasText: own('Upgrade') });
  await press(window.getByRole('button', { name: 'Edit' }));
  await write(dialog.getByLabel('What for'), own('Longer upgrade'));
  await press(button('Save', dialog));
  const edited = dialog.getByRole('listitem').filter({ hasText: own('Longer upgrade') });
  await press(edited.getByRole('button', { name: /^(?:End|Delete)/ }));
  await press(page.getByRole('dialog', { name: /\?$/ }).getByRole('button', { name: /^(?:End|Delete)/ }));
  await edited.getByRole('button', { name: 'Edit' }).waitFor({ state: 'detached' });
  await press(button('Close', dialog));
  await isClosed();
}

async function sortExceptions(h: ConsoleWorld, use: ConsoleUse, serviceId: Id<'service'>) {
  const { kind, page, dialog, open, button, press, write, pick, sees, isClosed } = use;
  const titles = ['First', 'Second', 'Third'];
  const events = titles.map((type) => {
    const [exception] = eventAt(h).exceptions;
    return eventAt(h, { fingerprint: [type], exceptions: [{ ...exception!, type, value: 'broken' }] });
  });
  const groups = await groupAndStore(h, serviceId, events);
  const statusOf = async (index: number) =>
    (await h.expectOk('get_exception_group', { groupId: groups[index]!.groupId })).status;
  await open(`exceptions?service=${serviceId}`, 'Exceptions');
  const row = (title: string) => page.locator('li[data-row]').filter({ hasText: title });
  await row('Third').waitFor();
  await write(page.getByLabel('Search exceptions'), 'Third');
  await row('First').waitFor({ state: 'detached' });
  await press(row('Third').getByRole('link'));
  await page.getByRole('heading', { name: /^Third/, level: 1 }).waitFor();
  const undo = () => page.getByRole('alert').getByRole('button', { name: 'Undo' }).last();
  await press(button('Resolve'));
  await expect.poll(() => statusOf(2)).toBe('resolved');
  await press(undo());
  await expect.poll(() => statusOf(2)).toBe('unresolved');
  // A phone has no room for all of the words.
  if (kind === 'touch') await press(button('More about this exception'));
  await press(kind === 'touch' ? page.getByRole('menuitem', { name: 'Ignore' }) : button('Ignore'));
  await expect.poll(() => statusOf(2)).toBe('ignored');
  await press(button('Reopen'));
  await expect.poll(() => statusOf(2)).toBe('unresolved');
  await press(button('Fixed in a release'));
  await press(page.getByRole('menuitem', { name: 'Fixed in a release …' }));
  await write(dialog.getByRole('combobox'), 'shop@9');
  await press(button('Resolve', dialog));
  await sees('Exception resolved in release shop@9.');
  await isClosed();

  await press(button('Merge into …'));
  await pick(dialog.getByRole('combobox'), 'First');
  await press(button('Merge', dialog));
  await page.getByRole('heading', { name: /^First/, level: 1 }).waitFor();
  await isClosed();
  await press(button(/^Separate Third/));
  await sees(/^Separated/);

  await open(`exceptions?service=${serviceId}&status=all`, 'Exceptions');
  if (kind === 'touch') await press(button('Select'));
  for (const title of ['First', 'Second']) {
    await press(kind === 'touch' ? row(title) : row(title).getByRole('checkbox'));
  }
  await press(button('Merge'));
  await press(button('Merge', dialog));
  await sees('2 exceptions merged into one.');
  await isClosed();
}
