import { Button } from '@mantine/core';
import { useInfiniteQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';

import { Card, Row } from '#console/components/card.tsx';
import { LoadMore } from '#console/components/lists/load_more.tsx';
import { Name, named } from '#console/components/text/name.tsx';
import { ReadinessDetails, ReadinessStatus } from '#console/pages/oncall_teams/readiness.tsx';
import { useOrganization } from '#console/shell/organization.tsx';
import { type PersonWithoutTeam, teamNamesQuery, withoutTeamQuery } from '#console/api/teams.ts';
import { TeamPicker } from '#console/components/forms/team_picker.tsx';
import { MembershipDialog } from '#console/pages/oncall_teams/membership_dialog.tsx';

interface AddToTeamProps {
  readonly person: PersonWithoutTeam;
  readonly onClose: () => void;
}

/** Dialog that adds somebody who is in no team to one. */
function AddToTeam({ person: { userId, name }, onClose }: AddToTeamProps) {
  const { orgId } = useOrganization().org;
  const queryClient = useQueryClient();
  const teamNameOf = (teamId: string): string => {
    const cachedNames = queryClient.getQueryData(teamNamesQuery(orgId, { teamIds: [teamId] }).queryKey);
    return cachedNames?.teams[0]?.name ?? 'the team';
  };
  return (
    <MembershipDialog
      title={named`Add ${name} to a team`}
      chosen={{ userId }}
      asked={{ name: 'teamId', fault: 'Choose a team' }}
      teamNameOf={teamNameOf}
      onClose={onClose}
      field={(form) => (
        <TeamPicker
          label="Team"
          placeholder="Choose a team"
          isRequired
          isFocused
          value={form.values.teamId === '' ? null : form.values.teamId}
          onChange={(teamId) => form.setFieldValue('teamId', teamId ?? '')}
          error={form.errors['teamId']}
        />
      )}
    />
  );
}

/** List of people whom only a step or an override can name. */
export function PeopleWithoutTeam({ text }: { readonly text: string }) {
  const { org, may } = useOrganization();
  const [added, setAdded] = useState<PersonWithoutTeam | null>(null);
  const { data, hasNextPage, fetchNextPage, isFetchingNextPage, isFetchNextPageError } = useInfiniteQuery(
    withoutTeamQuery(org.orgId, text),
  );
  const people = data?.pages.flatMap((page) => page.people) ?? [];
  if (people.length === 0) return null;
  return (
    <>
      <Card
        title="In no team"
        about="A step or an override can name them. Pages find them by the number that they have given on their own page, by mail and on their devices."
        rows={people.map((person) => (
          <Row
            key={person.userId}
            title={
              <>
                <Name>{person.name}</Name> <ReadinessStatus readiness={person.readiness} />
              </>
            }
            sub={
              <>
                <Name>{person.email}</Name>
                <ReadinessDetails readiness={person.readiness} />
              </>
            }
          >
            {may('oncall:edit') && (
              <Button
                size="xs"
                variant="default"
                onClick={() => setAdded(person)}
                aria-label={`Add to a team: ${person.name}`}
              >
                Add to a team
              </Button>
            )}
          </Row>
        ))}
      />
      {hasNextPage && (
        <LoadMore onMore={() => void fetchNextPage()} isLoading={isFetchingNextPage} hasFailed={isFetchNextPageError} />
      )}
      {added !== null && <AddToTeam person={added} onClose={() => setAdded(null)} />}
    </>
  );
}
