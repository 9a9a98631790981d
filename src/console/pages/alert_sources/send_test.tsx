import { Button, Group, Stack, Text } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';

import { incidentQuery, invoke, topicKey } from '#console/api/actions.ts';
import { addressOf, serverNow, toApiError } from '#console/api/http.ts';
import { ErrorAlert } from '#console/components/error_alert.tsx';
import { isolateBidi } from '#console/components/text/bidi.ts';
import { Name } from '#console/components/text/name.tsx';
import { useNamesOf } from '#console/components/text/use_names_of.ts';
import { IconSend } from '#console/icons.ts';
import { testAlert, type TestAlert, type TestRequest } from '#console/pages/alert_sources/test_alert.ts';
import type { useAlertKey } from '#console/pages/alert_sources/alert_secrets.ts';
import { useOrganization } from '#console/shell/organization.tsx';
import { ALERTS_PATH } from '#kernel/api_paths.ts';
import { declarationOf } from '#modules/contacts/decide/channel.ts';

const LOOK_MS = 1_000;

interface SendTestProps {
  readonly serviceId: string;
  readonly source: { readonly protocol: string; readonly name: string };
  readonly alertKey: ReturnType<typeof useAlertKey>;
}

/** Sends a test alert over the network as the tool does, and shows the incident that it opens. */
export function SendTest({ serviceId, source, alertKey }: SendTestProps) {
  const { orgId } = useOrganization().org;
  const queryClient = useQueryClient();
  const [sent, setSent] = useState<TestAlert | null>(null);
  const [isTakenBack, setIsTakenBack] = useState(false);
  const refresh = () => queryClient.invalidateQueries({ queryKey: topicKey(orgId, 'services') });
  const sending = useMutation({
    async mutationFn() {
      const test = testAlert({
        ...source,
        alertKey: await alertKey.reveal(),
        id: Date.now().toString(36),
        now: new Date(serverNow()),
      });
      await send(test.trigger);
      return test;
    },
    onSuccess(test) {
      setSent(test);
      setIsTakenBack(false);
      void refresh();
    },
  });
  const takingBack = useMutation({
    mutationFn: (test: TestAlert) => send(test.resolve),
    onSuccess() {
      setIsTakenBack(true);
      void refresh();
    },
  });
  const opened = useQuery({
    queryKey: ['test_alert', orgId, serviceId, sent?.title],
    queryFn: async () => {
      const { incidents } = await invoke(orgId, 'list_incidents', { serviceId });
      return incidents.find(({ title }) => sent !== null && title.includes(sent.title)) ?? null;
    },
    enabled: sent !== null,
    refetchInterval: LOOK_MS,
  });
  const incident = opened.data ?? null;
  return (
    <Stack gap="sm">
      <Text size="sm" c="dimmed">
        A test alert takes the way of a real one, by the routes and the policy: it pages people.
      </Text>
      <Group gap="xs">
        <Button
          leftSection={<IconSend size={16} />}
          loading={sending.isPending}
          onClick={() => sending.mutate()}
          variant={sent === null ? 'filled' : 'default'}
        >
          {sent === null ? 'Send a test alert' : 'Send another test alert'}
        </Button>
        {sent !== null && !isTakenBack && (
          <Button variant="default" loading={takingBack.isPending} onClick={() => takingBack.mutate(sent)}>
            Take the test back
          </Button>
        )}
      </Group>
      {sending.error !== null && <ErrorAlert title="The test was refused" error={sending.error} />}
      {takingBack.error !== null && <ErrorAlert title="The test was not taken back" error={takingBack.error} />}
      {sent !== null && (
        <Text size="sm" role="status">
          {incident === null ? (
            'The test alert was taken. If a route only counts it, it opens no incident.'
          ) : (
            <>
              {incident.status === 'resolved' ? 'It was taken back: ' : 'It has opened an incident: '}
              <Link to="/incidents/$incidentId" params={{ incidentId: incident.incidentId }}>
                <Name>{incident.title}</Name>
              </Link>
              . <WhomItPaged incidentId={incident.incidentId} />
            </>
          )}
        </Text>
      )}
    </Stack>
  );
}

/** Sentence on who was paged by an incident, as far as its log says by now. */
function WhomItPaged({ incidentId }: { readonly incidentId: string }) {
  const { orgId } = useOrganization().org;
  const { data } = useQuery({ ...incidentQuery(orgId, incidentId), refetchInterval: LOOK_MS });
  const pages = data?.notifications.filter(({ status }) => status !== 'skipped' && status !== 'failed') ?? [];
  const byPerson = [...Map.groupBy(pages, ({ userId }) => userId)];
  const { nameOf } = useNamesOf(byPerson.map(([userId]) => userId));
  if (data === undefined) return null;
  if (byPerson.length === 0) {
    const { state, nextStepAt } = data.escalation;
    if (state === 'none') return 'It pages nobody: the route that took it has no policy.';
    return nextStepAt === null && state !== 'running'
      ? 'It paged nobody: the incident says why.'
      : 'Nobody has been paged yet.';
  }
  const people = byPerson.map(([userId, ofPerson]) => {
    const channels = [...new Set(ofPerson.map(({ channel }) => declarationOf(channel).name))].join(' and ');
    return `${isolateBidi(nameOf(userId) ?? '…')} by ${channels}`;
  });
  return `It paged ${people.join(', ')}.`;
}

/** Sends as a tool does, without the cookie of the person. Throws an ApiError when it is refused. */
async function send({ path, headers, body }: TestRequest): Promise<void> {
  const response = await fetch(addressOf(`${ALERTS_PATH}${path}`), {
    method: 'POST',
    credentials: 'omit',
    headers: { 'content-type': 'application/json', ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  }).catch(() => null);
  if (response?.ok === true) return;
  const answer: unknown = await response?.json().catch(() => null);
  const words = typeof answer === 'object' && answer !== null ? wordsOf(answer) : null;
  throw toApiError(
    { detail: words ?? 'the address did not answer; try again in a moment', code: 'refused' },
    response?.status ?? 0,
  );
}

/** Reads the reason of a refusal, which each protocol says in its own words. */
function wordsOf(answer: object): string | null {
  const reasons: unknown = 'errors' in answer && Array.isArray(answer.errors) ? answer.errors.at(-1) : null;
  const texts = [
    'detail' in answer ? answer.detail : null,
    reasons,
    'error' in answer ? answer.error : null,
    'message' in answer ? answer.message : null,
  ];
  return texts.find((text): text is string => typeof text === 'string') ?? null;
}
