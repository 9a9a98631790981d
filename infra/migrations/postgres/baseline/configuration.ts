/** Keys that configuration files give to resources. */
export const configuration = `
  create table managed_resources (
    org_id text not null references organizations on delete cascade,
    kind text not null,
    key text not null,
    resource_id text not null,
    file text not null,
    is_made boolean not null,
    created_at timestamptz(3) not null,
    updated_at timestamptz(3) not null,
    primary key (org_id, kind, key)
  );
  create index managed_resources_by_resource on managed_resources (org_id, resource_id);
`;
