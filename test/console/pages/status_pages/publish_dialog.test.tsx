import { QueryClient } from '@tanstack/react-query';
import { fireEvent, screen } from '@testing-library/react';
import { expect, test, vi } from 'vitest';

import { type IncidentWithLog, topicKey } from '#console/api/actions.ts';
import { PublishDialog } from '#console/pages/status_pages/publish_dialog.tsx';
import { renderInConsole } from '#test/console/in_console.tsx';
import { PATIENTLY } from '#test/console/long_wait.ts';

const updateOf = (text: string, at: string) => ({ stage: 'investigating', text, at });

const FIRST = updateOf('We look.', '2026-01-01T10:00:00.000Z');
const THEIRS = updateOf('It is the cache.', '2026-01-01T10:05:00.000Z');

test('an update that is sent again after its answer was lost is based on what the first one was', async () => {
  let updates = [FIRST];
  const refusals = [
    { status: 503, code: 'unavailable', detail: 'try later' },
    { status: 409, code: 'conflict', detail: 'somebody has added an update' },
  ];
  const sent: unknown[] = [];
  const client = new QueryClient();
  const incident = { incidentId: 'incident_1', number: 5, serviceId: 'service_1' } as unknown as IncidentWithLog;
  const statusPages = [{ statusPageId: 'page_1', title: 'Acme', isPublic: true, groups: [] }];
  const resultOf = (action: string): unknown =>
    action === 'list_status_pages'
      ? { statusPages }
      : {
          publications: [
            {
              publicationId: 'publication_1',
              statusPageId: 'page_1',
              title: 'Slow',
              impact: 'degraded',
              serviceIds: [],
              updates,
            },
          ],
        };
  const { rerender } = await renderInConsole(<div />, { client });
  vi.stubGlobal('fetch', async (address: string, { body = '{}' }: { body?: string } = {}) => {
    const { reads, ...input } = JSON.parse(body) as { reads?: { action: string }[] };
    if (reads !== undefined) {
      return Response.json({ result: { answers: reads.map(({ action }) => ({ result: resultOf(action) })) } });
    }
    const action = address.split('/').at(-1) ?? '';
    if (action !== 'add_status_update') return Response.json({ result: resultOf(action) });
    sent.push((input as { basedOn?: number }).basedOn);
    const { status, ...refusal } = refusals.shift()!;
    updates = [THEIRS, FIRST];
    return Response.json(refusal, { status });
  });
  rerender(<PublishDialog incident={incident} onClose={() => {}} />);
  const field = await screen.findByLabelText(/Text for readers/, {}, PATIENTLY);
  fireEvent.change(field, { target: { value: 'Half of it works.' } });
  fireEvent.click(screen.getByRole('button', { name: 'Publish the update' }));
  await screen.findByText('Try later.', {}, PATIENTLY);
  await client.invalidateQueries({ queryKey: topicKey('org_1', 'settings') });
  await screen.findByText('It is the cache.', {}, PATIENTLY);
  fireEvent.click(screen.getByRole('button', { name: 'Publish the update' }));
  await screen.findByText('Somebody has added an update.', {}, PATIENTLY);
  expect(sent).toEqual([1, 1]);
  expect(screen.getByLabelText(/Text for readers/)).toHaveProperty('value', 'Half of it works.');
});
