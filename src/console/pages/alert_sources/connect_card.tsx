import { Button, Group, Stack, Text } from '@mantine/core';
import { useClipboard } from '@mantine/hooks';
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';

import { addressOf } from '#console/api/http.ts';
import { policyQuery, policySearchQuery } from '#console/api/teams.ts';
import { Card } from '#console/components/card.tsx';
import { Choice } from '#console/components/forms/choice.tsx';
import { Confirm } from '#console/components/forms/confirm.tsx';
import { ErrorAlert } from '#console/components/error_alert.tsx';
import { lazyPart } from '#console/components/lazy_part.tsx';
import { Name } from '#console/components/text/name.tsx';
import { showSuccess } from '#console/components/notice.tsx';
import { PolicyPicker } from '#console/components/forms/policy_picker.tsx';
import { Bullet, Step, Steps } from '#console/components/forms/steps.tsx';
import classes from '#console/pages/alert_sources/alert_sources.module.css';
import { IconCheck, IconCopy, IconEye, IconEyeOff } from '#console/icons.ts';
import {
  draftRoutes,
  inputOfRoutes,
  type Source,
  type SourcesOfService,
} from '#console/pages/alert_sources/route_draft.ts';
import { SendTest } from '#console/pages/alert_sources/send_test.tsx';
import { type ChosenTool, firstTool, type Tool, TOOLS } from '#console/pages/alert_sources/tool_snippets.ts';
import { useAlertKey } from '#console/pages/alert_sources/alert_secrets.ts';
import { useServiceChange } from '#console/pages/services/use_service_change.ts';
import { useOrganization } from '#console/shell/organization.tsx';
import { ALERTS_PATH } from '#kernel/api_paths.ts';

const SetUpPaging = lazyPart(() => import('#console/pages/home/set_up_paging.tsx').then((m) => m.SetUpPaging));

/** Stands for the key until somebody asks for it. */
const MASKED_KEY = '••••••••••••••••••••••••••••••••';

interface ConnectCardProps {
  readonly sources: SourcesOfService;
  readonly chosen: ChosenTool;
  onChoose(chosen: ChosenTool): void;
}

/** Card that leads from a tool to a page: whom it pages, the lines for the tool with the key, and a test. */
export function ConnectCard({ sources, chosen, onChoose }: ConnectCardProps) {
  const { may } = useOrganization();
  const { serviceId, hasKey } = sources;
  const { tool, name } = chosen;
  const tools = TOOLS.some(({ value }) => value === tool.value) ? TOOLS : [tool, ...TOOLS];
  const choose = (value: string | null) => {
    const picked = tools.find((candidate) => candidate.value === value) ?? firstTool();
    onChoose({ tool: picked, name: sources.sources.find(isOf(picked))?.name ?? picked.name });
  };
  const key = useAlertKey(serviceId);
  const { mailDomain } = sources;
  const text = tool.text({ address: addressOf(ALERTS_PATH), alertKey: key.alertKey ?? MASKED_KEY, mailDomain });
  const mayEdit = may('services:edit');
  return (
    <Card
      anchor="connect"
      title="Connect a tool"
      about="The alert key opens the addresses for alerts of this service, and nothing else. The audit log records each time it is shown."
      action={mayEdit && hasKey && <KeyActions serviceId={serviceId} onChanged={key.hide} />}
    >
      <Steps>
        <Step>
          <Bullet tone="blue">1</Bullet>
          <div className={`${classes.step} shrinks`}>
            <h3>Whom alerts page</h3>
            <LastPolicy sources={sources} />
          </div>
        </Step>
        <Step>
          <Bullet tone="blue">2</Bullet>
          <div className={`${classes.step} shrinks`}>
            <h3>Point the tool here</h3>
            <Stack gap="sm">
              <Choice
                label="Tool"
                options={tools.map(({ value, label }) => ({ value, label }))}
                value={tool.value}
                onChange={choose}
                emptyText="No tool has this name; Any JSON takes all that send JSON"
              />
              <Text size="sm" c="dimmed">
                {tool.where}
              </Text>
              <pre className={`${classes.code} flush mono`} tabIndex={0} aria-label={`Lines for ${tool.label}`}>
                {text}
              </pre>
              {mayEdit ? (
                <SnippetButtons text={text} alertKey={key} hasKey={hasKey} />
              ) : (
                <Text size="sm" c="dimmed">
                  Somebody with the permission services:edit can show the key.
                </Text>
              )}
              {key.error !== null && <ErrorAlert title="The key could not be shown" error={key.error} />}
            </Stack>
          </div>
        </Step>
        <Step>
          <Bullet tone="blue">3</Bullet>
          <div className={`${classes.step} shrinks`}>
            <h3>See it work</h3>
            {mayEdit ? (
              <SendTest
                key={`${tool.value} ${name}`}
                serviceId={serviceId}
                source={{ protocol: tool.protocol, name }}
                alertKey={key}
              />
            ) : (
              <Text size="sm" c="dimmed">
                Let the tool send an alert: it stands here within seconds.
              </Text>
            )}
          </div>
        </Step>
      </Steps>
    </Card>
  );
}

function isOf({ protocol, name }: Tool) {
  return (source: Source) =>
    source.protocol === protocol && ((protocol !== 'webhook' && protocol !== 'mail') || source.name === name);
}

interface SnippetButtonsProps {
  readonly text: string;
  readonly alertKey: ReturnType<typeof useAlertKey>;
  readonly hasKey: boolean;
}

function SnippetButtons({ text, alertKey: { alertKey, isPending, reveal, hide }, hasKey }: SnippetButtonsProps) {
  const clipboard = useClipboard({ timeout: 2_000 });
  if (alertKey === null) {
    return (
      <div>
        <Button
          variant="default"
          leftSection={<IconEye size={16} />}
          loading={isPending}
          onClick={() => void reveal().catch(() => {})}
        >
          {hasKey ? 'Show and fill in the key' : 'Make and fill in the key'}
        </Button>
      </div>
    );
  }
  return (
    <Group gap="xs">
      <Button
        variant="default"
        leftSection={clipboard.copied ? <IconCheck size={16} /> : <IconCopy size={16} />}
        onClick={() => clipboard.copy(text)}
      >
        {clipboard.copied ? 'Copied' : 'Copy the lines'}
      </Button>
      <Button variant="default" leftSection={<IconEyeOff size={16} />} onClick={hide}>
        Hide the key
      </Button>
    </Group>
  );
}

/** The policy of the last route, which takes what no other route does. */
function LastPolicy({ sources: { serviceId, routes } }: { readonly sources: SourcesOfService }) {
  const { org, may } = useOrganization();
  const last = routes.at(-1);
  const policyId = last?.outcome === 'page' ? last.policyId : null;
  const policy = useQuery({ ...policyQuery(org.orgId, policyId ?? ''), enabled: policyId !== null });
  const saving = useServiceChange('set_alert_routes');
  const [isSettingUp, setIsSettingUp] = useState(false);
  const { data } = useInfiniteQuery({ ...policySearchQuery(org.orgId, ''), enabled: policyId === null });
  const first = data?.pages[0];
  const hasNoPolicy = first?.policies.length === 0;
  const [single, further] = first?.policies ?? [];
  const only = further === undefined && first?.nextCursor === null ? single : undefined;
  if (policyId !== null) {
    return (
      <Text size="sm">
        Unless a route below says otherwise:{' '}
        <Link to="/oncall/policies/$policyId" params={{ policyId }}>
          <Name>{policy.data?.name ?? 'an escalation policy'}</Name>
        </Link>
      </Text>
    );
  }
  if (last !== undefined && last.outcome !== 'page') {
    return <Text size="sm">Nobody, unless a route below says so: the last route pages nobody.</Text>;
  }
  if (!may('oncall:edit')) {
    return <Text size="sm">Nobody yet: somebody with the permission oncall:edit has to choose a policy.</Text>;
  }
  const choose = (chosen: string | null) => {
    if (chosen === null) return;
    const drafts = draftRoutes(routes);
    const changed = drafts.map((route, index) =>
      index === drafts.length - 1 ? { ...route, outcome: 'page' as const, policyId: chosen } : route,
    );
    saving.mutate(
      { serviceId, routes: inputOfRoutes(changed), basedOn: routes },
      { onSuccess: () => showSuccess('Alerts page by this policy.') },
    );
  };
  if (hasNoPolicy && may('services:edit')) {
    return (
      <Stack gap="xs" align="flex-start">
        <Text size="sm">
          Nobody yet: there is no team and no escalation policy. Make both now, with yourself on call, or{' '}
          <Link to="/oncall/teams">make them by hand</Link>.
        </Text>
        <Button onClick={() => setIsSettingUp(true)}>Set up paging</Button>
        {isSettingUp && <SetUpPaging serviceId={serviceId} onClose={() => setIsSettingUp(false)} onDone={choose} />}
      </Stack>
    );
  }
  return (
    <Stack gap="xs">
      <PolicyPicker
        label="Escalation policy"
        placeholder="Choose a policy"
        description="Nobody is paged yet: alerts open incidents that page nobody."
        value={only?.policyId ?? null}
        onChange={choose}
        error={undefined}
      />
      {only !== undefined && (
        <div>
          <Button loading={saving.isPending} onClick={() => choose(only.policyId)}>
            Page by this policy
          </Button>
        </div>
      )}
      <Text size="sm">
        <Link to="/oncall/policies/new">Create a policy</Link>
      </Text>
      {saving.error !== null && <ErrorAlert error={saving.error} title="The policy was not set" />}
    </Stack>
  );
}

/** Buttons that take the key away from everybody who has it. */
function KeyActions({ serviceId, onChanged }: { readonly serviceId: string; readonly onChanged: () => void }) {
  const [asked, setAsked] = useState<'rotate' | 'revoke' | null>(null);
  const done = (text: string) => () => {
    setAsked(null);
    onChanged();
    showSuccess(text);
  };
  const rotating = useServiceChange(
    'rotate_alert_key',
    done('The key is rotated. Show the new one, and give it to your tools.'),
  );
  const revoking = useServiceChange('revoke_alert_key', done('The key is revoked.'));
  return (
    <Group gap="xs">
      <Button size="xs" variant="default" onClick={() => setAsked('rotate')}>
        Rotate the key
      </Button>
      <Button size="xs" variant="default" onClick={() => setAsked('revoke')}>
        Revoke the key
      </Button>
      {asked === 'rotate' && (
        <Confirm
          title="Rotate the alert key?"
          button="Rotate"
          saving={rotating}
          onConfirm={() => rotating.mutate({ serviceId })}
          onClose={() => setAsked(null)}
        >
          Within a second every tool that has the key is refused, until it has the new one. What happens meanwhile pages
          nobody.
        </Confirm>
      )}
      {asked === 'revoke' && (
        <Confirm
          title="Revoke the alert key?"
          button="Revoke"
          saving={revoking}
          onConfirm={() => revoking.mutate({ serviceId })}
          onClose={() => setAsked(null)}
        >
          Within a second every tool that has the key is refused. The next time somebody asks for a key, a new one is
          made.
        </Confirm>
      )}
    </Group>
  );
}
