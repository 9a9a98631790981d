import { Button } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import { useState } from 'react';

import { type PersonWithoutTeam, withoutTeamQuery } from '#console/api/team_pages.ts';
import { Card, Row } from '#console/components/card.tsx';
import { LoadMore } from '#console/components/lists/load_more.tsx';
import { Name } from '#console/components/text/name.tsx';
import { AddToTeam } from '#console/pages/oncall_teams/add_to_team.tsx';
import { ReadinessDetails, ReadinessStatus } from '#console/pages/oncall_teams/readiness.tsx';
import { useOrganization } from '#console/shell/organization.tsx';

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
