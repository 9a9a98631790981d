import { useQuery } from '@tanstack/react-query';

import { actionQuery } from '#console/api/queries.ts';
import { Card, Row } from '#console/components/card.tsx';
import { Status } from '#console/components/status.tsx';
import type { MoveIn } from '#console/pages/move_in/move_in_state.ts';
import { useOrganization } from '#console/shell/organization.tsx';

interface Check {
  readonly title: string;
  /** Null: only people can tell. */
  readonly isDone: boolean | null;
  readonly about: string;
}

const NOT_READ = 'Nothing was read yet.';

/** Card with what has to be true before the old tool is switched off. */
export function CutOverCard({ moveIn }: { readonly moveIn: MoveIn | null }) {
  const { org } = useOrganization();
  const { data: numbers } = useQuery(actionQuery(org.orgId, 'settings', 'get_number_campaign', {}));
  const { data: shadow } = useQuery(actionQuery(org.orgId, 'settings', 'get_shadow_mode', {}));
  const summary = moveIn?.summary ?? null;
  const refused = summary?.verdicts['refused'] ?? 0;
  const differing = (summary?.minutes ?? 0) - (summary?.equal ?? 0);
  const isInShadow = shadow === undefined || shadow.organizationSince !== null || shadow.services.length > 0;
  const checks: readonly Check[] = [
    {
      title: 'Everything is applied',
      isDone: moveIn?.plan?.changes === 0,
      about: summary === null ? NOT_READ : `${(moveIn?.plan?.changes ?? 0).toLocaleString()} changes are left.`,
    },
    {
      title: 'Schedules say the same',
      isDone: summary !== null && differing === 0,
      about: summary === null ? NOT_READ : `${differing.toLocaleString()} minutes differ.`,
    },
    {
      title: 'What was refused is made by hand, or not missed',
      isDone: summary !== null && refused === 0 ? true : null,
      about:
        summary === null
          ? NOT_READ
          : `${refused.toLocaleString()} ${refused === 1 ? 'item is' : 'items are'} refused; the report says what to do.`,
    },
    {
      title: 'Everybody has a confirmed number, and has received a test',
      isDone: numbers !== undefined && numbers.people > 0 && numbers.done === numbers.people,
      about: `${numbers?.done ?? 0} of ${numbers?.people ?? 0} people`,
    },
    {
      title: 'Senders send here, too',
      isDone: null,
      about: 'Each service shows when data last arrived. Give senders its alert key, or the new host of its DSN.',
    },
    {
      title: 'Each policy has paged once',
      isDone: null,
      about: 'Send one real page to each, all the way, while somebody looks.',
    },
    {
      title: 'Shadow mode is over',
      isDone: isInShadow ? false : summary === null ? null : true,
      about: 'End it after some weeks in which both tools said the same. From then on people are paged.',
    },
    {
      title: 'The old tool is off, and its key deleted',
      isDone: null,
      about: 'Stop its pages first, then delete the key that was used to read.',
    },
  ];
  return (
    <Card
      title="Cut over"
      about="In this order. Go back by stopping pages here and starting them there again."
      rows={checks.map(({ title, isDone, about }) => (
        <Row key={title} title={title} sub={about}>
          <Status tone={isDone === true ? 'green' : isDone === null ? 'gray' : 'amber'}>
            {isDone === true ? 'Done' : isDone === null ? 'Your check' : 'Open'}
          </Status>
        </Row>
      ))}
    />
  );
}
