import { QueryClient } from '@tanstack/react-query';
import { act, fireEvent, screen } from '@testing-library/react';
import { expect, test, vi } from 'vitest';

import { incidentSearchQuery } from '#console/api/incidents.ts';
import { useAnswerIncidents } from '#console/pages/incidents/answer_incidents.ts';
import { useAnswerMatching } from '#console/pages/incidents/answer_matching.ts';
import { renderInConsole, serve } from '#test/console/in_console.tsx';
import { PATIENTLY } from '#test/console/long_wait.ts';

const rowOf = (incidentId: string) => ({ incidentId, status: 'triggered', escalation: { state: 'running' } });

const listOf = (...ids: string[]) => ({ pages: [{ incidents: ids.map(rowOf), nextCursor: null }], pageParams: [null] });

const refusal = (): Response => Response.json({ code: 'conflict', detail: 'it is merged' }, { status: 409 });

function AnswerButton() {
  const answering = useAnswerIncidents();
  return <button onClick={() => answering.mutate({ answer: 'acknowledge', incidentIds: ['a', 'b'] })}>Answer</button>;
}

test('a refused answer changes back its own row, and keeps an incident that came meanwhile', async () => {
  const client = new QueryClient();
  const { queryKey } = incidentSearchQuery('org_1', { status: 'open' });
  client.setQueryData(queryKey, listOf('a', 'b') as never);
  await client.invalidateQueries({ queryKey });
  const { promise: asked, resolve: isAsked } = Promise.withResolvers<void>();
  const { promise: refused, resolve: refuse } = Promise.withResolvers<void>();
  await renderInConsole(<AnswerButton />, { client });
  vi.stubGlobal('fetch', async (_address: string, { body }: { body: string }) => {
    const { incidentId } = JSON.parse(body) as { incidentId: string };
    if (incidentId === 'a') return Response.json({ result: { ...rowOf('a'), acknowledgedAt: null } });
    isAsked();
    await refused;
    return refusal();
  });
  fireEvent.click(screen.getByText('Answer'));
  await act(() => asked);
  const statuses = () =>
    client
      .getQueryData(queryKey)
      ?.pages.flatMap(({ incidents }) => incidents.map(({ incidentId, status }) => `${incidentId} ${status}`));
  expect(statuses()).toEqual(['a acknowledged', 'b acknowledged']);
  expect(client.getQueryState(queryKey)).toMatchObject({ isInvalidated: true });
  client.setQueryData(queryKey, (list) => {
    const [page] = list?.pages ?? [];
    return list && page && { ...list, pages: [{ ...page, incidents: [rowOf('x') as never, ...page.incidents] }] };
  });
  await act(async () => refuse());
  await screen.findByText(/1 not acknowledged/, {}, PATIENTLY);
  expect(statuses()).toEqual(['x triggered', 'a acknowledged', 'b triggered']);
});

function AnswerAllButton() {
  const { answering } = useAnswerMatching();
  const matching = { statuses: ['triggered' as const] };
  return <button onClick={() => answering.mutate({ answer: 'acknowledge', matching })}>Answer all</button>;
}

test('an answer to all that fails in the middle says how many were answered, and undoes them', async () => {
  const asked = serve((_, { answer }) => {
    if (answer === 'unacknowledge') return { changed: [{ incidentId: 'a' }], unchanged: 0, refused: [], left: 0 };
    if (asked.length > 1) throw new TypeError('fetch failed');
    return { changed: [{ incidentId: 'a' }], unchanged: 0, refused: [], left: 5 };
  });
  await renderInConsole(<AnswerAllButton />);
  fireEvent.click(screen.getByText('Answer all'));
  await screen.findByText(/Not all incidents were answered/, {}, PATIENTLY);
  await screen.findByText(/^1 incident acknowledged. The rest is left as it was/, {}, PATIENTLY);
  fireEvent.click(screen.getByText('Undo'));
  await screen.findByText(/Undone for 1 incident/, {}, PATIENTLY);
  expect(asked.at(-1)?.input).toMatchObject({ answer: 'unacknowledge', incidentIds: ['a'] });
});
