import type { Me } from '#console/api/organization.ts';
import { Card, Row } from '#console/components/card.tsx';
import { isSame } from '#console/components/forms/merge_changes.ts';
import { Name } from '#console/components/text/name.tsx';
import { Status, type Tone } from '#console/components/status.tsx';
import { Timestamp } from '#console/components/text/timestamp.tsx';
import { whyUnused } from '#console/components/text/unused_channel.ts';
import { CHANNEL_DECLARATIONS } from '#modules/contacts/decide/channel.ts';
import { READINESS_REASONS, type ReadinessAnswer } from '#modules/contacts/decide/readiness_words.ts';

type Readiness = Me['ownReadiness'];

const ANSWERS: Record<ReadinessAnswer, readonly [Tone, string]> = {
  yes: ['green', 'yes'],
  unproved: ['amber', 'not proved'],
  no: ['red', 'no'],
};

/** Card on whether a page at night would wake the person, from stored data, without sending anything. */
export function ReadinessCard({ me: { teams, ownReadiness } }: { readonly me: Me }) {
  const isAlike = teams.every(({ readiness }) => isSame(readiness, ownReadiness));
  return (
    <Card
      title="Would a page wake you?"
      about="Judged by your settings and by what has arrived. Nothing is sent to find out."
      rows={
        <>
          {!isAlike &&
            teams.map(({ teamId, name, readiness }) => (
              <ReadinessRow key={teamId} title={<Name>{name}</Name>} readiness={readiness} />
            ))}
          <ReadinessRow
            title={teams.length === 0 ? 'When a page names you' : isAlike ? 'In every team' : 'Other teams'}
            readiness={ownReadiness}
          />
        </>
      }
    />
  );
}

interface ReadinessRowProps {
  readonly title: React.ReactNode;
  readonly readiness: Readiness;
}

function ReadinessRow({ title, readiness }: ReadinessRowProps) {
  const [tone, word] = ANSWERS[readiness.answer];
  return (
    <Row
      title={title}
      sub={
        <>
          {readiness.reasons.map((reason) => (
            <div key={reason}>{READINESS_REASONS[reason].you}</div>
          ))}
          <Waking readiness={readiness} />
        </>
      }
    >
      <Status tone={tone}>{word}</Status>
    </Row>
  );
}

/** Channels that wake, and when something last arrived on them; if there are none, the reason. */
function Waking({ readiness: { channels } }: { readonly readiness: Readiness }) {
  const loud = channels.filter(({ channel }) => CHANNEL_DECLARATIONS[channel].wakes);
  const waking = loud.filter(({ state }) => state === 'ready');
  if (waking.length === 0) {
    const reasons = loud.flatMap(({ channel, state }) =>
      state === 'ready' ? [] : `${CHANNEL_DECLARATIONS[channel].title}: ${whyUnused(channel, state)}`,
    );
    return <div>{reasons.join('; ')}.</div>;
  }
  return (
    <div>
      By{' '}
      {waking.map(({ channel, provedAt }, index) => (
        <span key={channel}>
          {index > 0 && ', '}
          {CHANNEL_DECLARATIONS[channel].title}
          {provedAt !== null && (
            <>
              {' '}
              (arrived <Timestamp at={provedAt} />)
            </>
          )}
        </span>
      ))}
    </div>
  );
}
