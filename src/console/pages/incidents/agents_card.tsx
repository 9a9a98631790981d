import { Button, Group, TextInput } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useLocation } from '@tanstack/react-router';
import { useState } from 'react';

import { invoke, type ResultOf } from '#console/api/actions.ts';
import { refreshIncidents } from '#console/api/incidents.ts';
import { Card, Row } from '#console/components/card.tsx';
import { Confirm } from '#console/components/forms/confirm.tsx';
import { ErrorAlert } from '#console/components/error_alert.tsx';
import { Name, named } from '#console/components/text/name.tsx';
import { showSuccess } from '#console/components/notice.tsx';
import { Status, type Tone } from '#console/components/status.tsx';
import { Timestamp } from '#console/components/text/timestamp.tsx';
import classes from '#console/pages/incidents/agents_card.module.css';
import { useOrganization } from '#console/shell/organization.tsx';
import { visibleJson, visibleText } from '#modules/agents/decide/agent_text.ts';

type Work = ResultOf<'get_agent_work'>;
type Lease = NonNullable<Work['lease']>;
type Proposal = Work['proposals'][number];

const WORDS_MAX = 500;

interface AgentsCardProps {
  readonly work: Work;
  readonly onAnswered: () => Promise<unknown>;
}

/** Card of what agents do about the incident, and what they ask people. */
export function AgentsCard({ work, onAnswered }: AgentsCardProps) {
  const left = work.total - work.proposals.length;
  return (
    <Card title="Agents" rows={work.lease !== null && <LeaseRow lease={work.lease} />}>
      {work.proposals.map((proposal) => (
        <ProposalItem key={proposal.proposalId} proposal={proposal} onAnswered={onAnswered} />
      ))}
      {left > 0 && <p className="dimmed small">And {left} older.</p>}
    </Card>
  );
}

function LeaseRow({ lease: { agentName, state, expiresAt, releasedAt } }: { readonly lease: Lease }) {
  const { tone, word, at } = {
    held: { tone: 'blue' as const, word: 'works on it until', at: expiresAt },
    lost: { tone: 'amber' as const, word: 'stopped answering; its lease ended', at: expiresAt },
    released: { tone: 'gray' as const, word: 'ended its work', at: releasedAt ?? expiresAt },
  }[state];
  return (
    <Row
      title={<Name>{agentName}</Name>}
      sub={
        <>
          {word} <Timestamp at={at} format={state === 'held' ? 'clock' : 'ago'} />
        </>
      }
    >
      <Status tone={tone}>{state === 'held' ? 'at work' : state}</Status>
    </Row>
  );
}

const STATES: Record<Proposal['state'], { readonly tone: Tone; readonly action: string; readonly question: string }> = {
  proposed: { tone: 'amber', action: 'waits for a person', question: 'waits for an answer' },
  approved: { tone: 'green', action: 'approved', question: 'yes' },
  carried_out: { tone: 'green', action: 'approved and done', question: 'yes' },
  rejected: { tone: 'gray', action: 'rejected', question: 'no' },
  expired: { tone: 'gray', action: 'expired', question: 'expired' },
};

interface ProposalProps {
  readonly proposal: Proposal;
  readonly onAnswered: () => Promise<unknown>;
}

function ProposalItem({ proposal, onAnswered }: ProposalProps) {
  const { agentName, kind, number, sentence, evidence, state, expiresAt, decidedAt, decidedBy, answer } = proposal;
  const { tone, [kind]: word } = STATES[state];
  const anchor = `proposal-${number}`;
  const isLinked = useLocation({ select: ({ hash }) => hash === anchor });
  return (
    <div
      id={anchor}
      ref={isLinked ? showLinked : undefined}
      className={classes.proposal}
      role="group"
      aria-label={`#${number} of ${agentName}`}
    >
      <div className={`${classes.head} wraps apart`}>
        <b>
          #{number} <Name>{agentName}</Name> {kind === 'action' ? `proposes to ${wordsOf(proposal)}` : 'asks'}
        </b>
        <Status tone={tone} isUrgent={state === 'proposed'}>
          {word}
        </Status>
      </div>
      <p className={classes.text} dir="auto">
        {visibleText(sentence)}
      </p>
      {evidence.length > 0 && (
        <ul className={`${classes.evidence} dimmed small`} aria-label="Evidence">
          {evidence.map((text, place) => (
            <li key={place} dir="auto">
              {visibleText(text)}
            </li>
          ))}
        </ul>
      )}
      <Input proposal={proposal} />
      {state === 'proposed' && (
        <span className="dimmed small">
          until <Timestamp at={expiresAt} format="clock" />
        </span>
      )}
      {decidedAt !== null && decidedBy !== null && (
        <span className="dimmed small">
          {decidedBy} <Timestamp at={decidedAt} />
          {answer !== null && `: ${visibleText(answer)}`}
        </span>
      )}
      {state === 'proposed' && <Answers proposal={proposal} onAnswered={onAnswered} />}
    </div>
  );
}

/** Scrolls to the proposal whose link was followed, because it is loaded later than the page. */
function showLinked(proposal: HTMLElement | null): void {
  proposal?.scrollIntoView({ block: 'center' });
}

/** Exact input of a proposal; nothing if it is only this incident. */
function Input({ proposal: { input, incidentId } }: { readonly proposal: Proposal }) {
  if (input === null || (Object.keys(input).length === 1 && input['incidentId'] === incidentId)) return null;
  return (
    <pre className={`${classes.input} bordered tiny`} aria-label="Exactly this">
      {visibleJson(input, 2)}
    </pre>
  );
}

function Answers({ proposal, onAnswered }: ProposalProps) {
  const { proposalId, incidentId, kind, agentName } = proposal;
  const { org, may } = useOrganization();
  const queryClient = useQueryClient();
  const [isApproving, setIsApproving] = useState(false);
  const [words, setWords] = useState('');
  const answering = useMutation({
    mutationFn: (answer: 'yes' | 'no') =>
      invoke(org.orgId, 'answer_proposal', { proposalId, answer, ...(words.trim() !== '' && { text: words.trim() }) }),
    onSuccess: ({ state }) => {
      setIsApproving(false);
      if (state === 'carried_out') showSuccess(named`Done, as ${agentName} proposed.`);
    },
    // After a conflict, too: somebody else has answered.
    onSettled: async () => await Promise.all([onAnswered(), refreshIncidents(queryClient, org.orgId, [incidentId])]),
  });
  if (!may('oncall:edit')) return null;
  return (
    <>
      {kind === 'question' && (
        <TextInput
          label="A few words (optional)"
          value={words}
          onChange={(event) => setWords(event.currentTarget.value)}
          maxLength={WORDS_MAX}
          disabled={answering.isPending}
          className={classes.words}
        />
      )}
      <Group gap="xs" className={classes.buttons}>
        <Button
          size="sm"
          onClick={() => (kind === 'action' ? setIsApproving(true) : answering.mutate('yes'))}
          loading={answering.isPending && answering.variables === 'yes'}
        >
          {kind === 'action' ? 'Approve' : 'Yes'}
        </Button>
        <Button
          size="sm"
          variant="default"
          onClick={() => answering.mutate('no')}
          loading={answering.isPending && answering.variables === 'no'}
        >
          {kind === 'action' ? 'Reject' : 'No'}
        </Button>
      </Group>
      {answering.isError && !isApproving && <ErrorAlert title="Nothing was changed" error={answering.error} />}
      {isApproving && (
        <Confirm
          title={`Approve: ${wordsOf(proposal)}?`}
          button="Approve and do it"
          isHarmless
          saving={answering}
          onConfirm={() => answering.mutate('yes')}
          onClose={() => setIsApproving(false)}
        >
          It is done at once, in your name. The audit log says that <Name>{agentName}</Name> proposed it.
          <Input proposal={proposal} />
        </Confirm>
      )}
    </>
  );
}

function wordsOf({ proposed }: Proposal): string {
  return proposed ?? '';
}
