import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';

import { pagingProblemsQuery } from '#console/api/home.ts';
import { Card, Row } from '#console/components/card.tsx';
import { ChannelIcon } from '#console/components/text/channel.tsx';
import { dateFormat } from '#console/components/text/formats.ts';
import { Timestamp } from '#console/components/text/timestamp.tsx';
import { Name, Sentence } from '#console/components/text/name.tsx';
import { Status } from '#console/components/status.tsx';
import { useOrganization } from '#console/shell/organization.tsx';
import { reasonOf } from '#modules/incidents/decide/reasons.ts';
import { CHANNEL_DECLARATIONS } from '#modules/contacts/decide/channel.ts';

const SHOWN_MAX = 6;

/** Refresh interval, after which a channel that works again is no longer shown as failing. */
const REFRESH_MS = 15_000;

/** Card of the reasons why a page might not arrive: channels that fail, and the warnings of teams. */
export function DeliveryProblems() {
  const { orgId } = useOrganization().org;
  const { data } = useQuery({ ...pagingProblemsQuery(orgId), refetchInterval: REFRESH_MS });
  const { failing = [], simulated = [], warnings = [], warningCount = 0 } = data ?? {};
  if (failing.length === 0 && simulated.length === 0 && warnings.length === 0) return null;
  return (
    <Card
      title="Pages might not arrive"
      rows={
        <>
          {failing.map(({ channel, lastFailure, lastFailedAt }) => (
            <Row
              key={channel}
              icon={<ChannelIcon channel={channel} />}
              title={`${CHANNEL_DECLARATIONS[channel].title} is failing`}
              sub={
                <>
                  The last message failed {lastFailedAt !== null && <Timestamp at={lastFailedAt} />}
                  {lastFailure !== null && `: ${reasonOf(lastFailure)}`}. No message was sent since.{' '}
                  <Link to="/me">Send yourself a test</Link> to try again.
                </>
              }
            >
              <Status tone="red">failing</Status>
            </Row>
          ))}
          {simulated.map((channel) => (
            <Row
              key={channel}
              icon={<ChannelIcon channel={channel} />}
              title={`${CHANNEL_DECLARATIONS[channel].title} is simulated`}
              sub="No Twilio account is configured: messages go to the phone simulator and wake nobody."
            >
              <Status tone="amber">simulated</Status>
            </Row>
          ))}
          {warnings.slice(0, SHOWN_MAX).map(({ teamId, teamName, message, policyId }) => (
            <Row
              key={`${teamId} ${message}`}
              title={
                policyId === null ? (
                  <Link to="/oncall/teams/$teamId" params={{ teamId }}>
                    <Name>{teamName}</Name>
                  </Link>
                ) : (
                  <Link to="/oncall/policies/$policyId" params={{ policyId }}>
                    <Name>{teamName}</Name>
                  </Link>
                )
              }
              sub={<Sentence>{localTimes(message)}</Sentence>}
            />
          ))}
          {warningCount > SHOWN_MAX && (
            <Row title={<Link to="/oncall/teams">And {warningCount - SHOWN_MAX} more</Link>} />
          )}
        </>
      }
    />
  );
}

const TIMESTAMP = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z/g;
const SHORT = dateFormat({ dateStyle: 'medium', timeStyle: 'short' });

/** Converts times in sentences from the server, which are in UTC, to the viewer's zone. */
function localTimes(text: string): string {
  return text.replaceAll(TIMESTAMP, (at) => SHORT.format(new Date(at)));
}
