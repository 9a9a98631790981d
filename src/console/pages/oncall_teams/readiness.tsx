import type { Readiness } from '#console/api/teams.ts';
import { ChannelIcon, whyUnused } from '#console/components/text/channel.tsx';
import { Status, type Tone } from '#console/components/status.tsx';
import { Timestamp } from '#console/components/text/timestamp.tsx';
import classes from '#console/pages/oncall_teams/oncall_teams.module.css';
import { CHANNEL_DECLARATIONS } from '#modules/contacts/decide/channel.ts';
import {
  READINESS_REASONS,
  type ReadinessAnswer,
  type ReadinessReason,
} from '#modules/contacts/decide/readiness_words.ts';

const ANSWERS: Record<ReadinessAnswer, readonly [Tone, string]> = {
  yes: ['green', 'would be woken'],
  unproved: ['amber', 'not tested'],
  no: ['red', 'would not be woken'],
};

export function ReadinessStatus({ readiness: { answer } }: { readonly readiness: Readiness }) {
  const [tone, word] = ANSWERS[answer];
  return <Status tone={tone}>{word}</Status>;
}

/** State of each channel, then the reasons why the answer is not a plain yes. */
export function ReadinessDetails({ readiness }: { readonly readiness: Readiness }) {
  const { channels, reasons, deviceCount } = readiness;
  return (
    <>
      <div className={classes.channels}>
        {channels.map((channel) => (
          <ChannelState key={channel.channel} state={channel} deviceCount={deviceCount} />
        ))}
      </div>
      {reasons.filter(isNews).map((reason) => (
        <div key={reason} className={classes.reason}>
          {READINESS_REASONS[reason].them}
        </div>
      ))}
    </>
  );
}

/** Whether a reason has to be listed: the channels already show that none of them wakes somebody. */
function isNews(reason: ReadinessReason): boolean {
  return reason !== 'no_waking_channel';
}

interface ChannelStateProps {
  readonly state: Readiness['channels'][number];
  readonly deviceCount: number;
}

function ChannelState({ state: { channel, state, provedAt }, deviceCount }: ChannelStateProps) {
  const { title, addressKind } = CHANNEL_DECLARATIONS[channel];
  const devices =
    addressKind === 'browser' && deviceCount > 0 ? `, ${deviceCount} ${deviceCount === 1 ? 'device' : 'devices'}` : '';
  return (
    <span className={`${classes.channel} nowrap`} data-state={state}>
      <ChannelIcon channel={channel} size={15} />
      {title}
      {devices}
      {state === 'ready' ? (
        provedAt !== null && (
          <span className="dimmed">
            {' arrived '}
            <Timestamp at={provedAt} />
          </span>
        )
      ) : (
        <span className="dimmed">: {whyUnused(channel, state)}</span>
      )}
    </span>
  );
}
