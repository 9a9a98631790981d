import { Text } from '@mantine/core';
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';

import { serviceSearchQuery } from '#console/api/services.ts';
import { teamNamesQuery } from '#console/api/teams.ts';
import { isolateBidi } from '#console/components/text/bidi.ts';
import { type Place, routeText } from '#console/pages/places/place_texts.ts';
import { useOrganization } from '#console/shell/organization.tsx';

/** Incidents that a place is told of, one line for each route. */
export function PlaceRoutes({ routes }: { readonly routes: Place['routes'] }) {
  const { orgId } = useOrganization().org;
  const serviceIds = [...new Set(routes.flatMap(({ serviceId }) => serviceId ?? []))];
  const teamIds = [...new Set(routes.flatMap(({ teamId }) => teamId ?? []))];
  const services = useInfiniteQuery({
    ...serviceSearchQuery(orgId, { serviceIds, limit: Math.max(1, serviceIds.length) }),
    enabled: serviceIds.length > 0,
  }).data?.pages.flatMap((page) => page.services);
  const teams = useQuery({ ...teamNamesQuery(orgId, { teamIds }), enabled: teamIds.length > 0 }).data?.teams;
  const names = new Map<string, string>([
    ...(services ?? []).map(({ serviceId, name }) => [serviceId, name] as const),
    ...(teams ?? []).map(({ teamId, name }) => [teamId, name] as const),
  ]);
  return routes.map((route, index) => (
    <Text size="sm" key={index}>
      {routeText(route, (id) => isolateBidi(names.get(id) ?? '…'))}
    </Text>
  ));
}
