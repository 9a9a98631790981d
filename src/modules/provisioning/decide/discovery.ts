import { GROUP_SCHEMA } from '#modules/provisioning/decide/scim_group.ts';
import { USER_SCHEMA } from '#modules/provisioning/decide/scim_user.ts';

/** Most resources of one page. */
export const PAGE_MAX = 200;

/** Settings of this service provider (RFC 7643, section 5). */
export function serviceProviderConfig(location: string): object {
  return {
    schemas: ['urn:ietf:params:scim:schemas:core:2.0:ServiceProviderConfig'],
    patch: { supported: true },
    bulk: { supported: false, maxOperations: 0, maxPayloadSize: 0 },
    filter: { supported: true, maxResults: PAGE_MAX },
    changePassword: { supported: false },
    sort: { supported: true },
    etag: { supported: true },
    authenticationSchemes: [
      {
        type: 'oauthbearertoken',
        name: 'Bearer token',
        description: 'The token that an owner makes in the settings of the organization, under Provisioning.',
        primary: true,
      },
    ],
    meta: { resourceType: 'ServiceProviderConfig', location },
  };
}

/** Kinds of resources (RFC 7643, section 6). */
export function resourceTypes(baseUrl: string): { readonly id: string }[] {
  return [
    { name: 'User', schema: USER_SCHEMA },
    { name: 'Group', schema: GROUP_SCHEMA },
  ].map(({ name, schema }) => ({
    schemas: ['urn:ietf:params:scim:schemas:core:2.0:ResourceType'],
    id: name,
    name,
    endpoint: `/${name}s`,
    schema,
    meta: { resourceType: 'ResourceType', location: `${baseUrl}/ResourceTypes/${name}` },
  }));
}

interface Attribute {
  readonly name: string;
  readonly type: 'string' | 'boolean' | 'complex' | 'reference';
  readonly description: string;
  readonly isRequired?: true;
  readonly isReadOnly?: true;
  readonly isMultiple?: true;
  readonly isUnique?: true;
  readonly canonicalValues?: readonly string[];
  /** Kind of resource that a reference is to. */
  readonly refersTo?: 'User' | 'Group';
  readonly parts?: readonly Attribute[];
}

const text = (name: string, description: string, more: Partial<Attribute> = {}): Attribute => {
  return { name, type: 'string', description, ...more };
};

const USER: readonly Attribute[] = [
  text('userName', 'name that the identity provider has for the person', { isRequired: true, isUnique: true }),
  {
    name: 'name',
    type: 'complex',
    description: 'parts of the name',
    parts: [text('formatted', 'whole name'), text('familyName', 'family name'), text('givenName', 'given name')],
  },
  text('displayName', 'name that others see'),
  {
    name: 'emails',
    type: 'complex',
    isMultiple: true,
    isRequired: true,
    description: 'the one mail address of the account, of type work',
    parts: [
      text('value', 'the address', { isRequired: true }),
      text('type', 'always work', { canonicalValues: ['work'] }),
      { name: 'primary', type: 'boolean', description: 'always true' },
    ],
  },
  { name: 'active', type: 'boolean', description: 'whether the person is a member' },
  {
    name: 'roles',
    type: 'complex',
    isMultiple: true,
    isReadOnly: true,
    description: 'the role of a member',
    parts: [
      text('value', 'owner, admin, editor, responder or viewer', { isReadOnly: true }),
      { name: 'primary', type: 'boolean', description: 'always true', isReadOnly: true },
    ],
  },
  {
    name: 'groups',
    type: 'complex',
    isMultiple: true,
    isReadOnly: true,
    description: 'groups of the person',
    parts: [
      text('value', 'id of the group', { isReadOnly: true }),
      { name: '$ref', type: 'reference', description: 'address of the group', isReadOnly: true, refersTo: 'Group' },
      text('display', 'name of the group', { isReadOnly: true }),
    ],
  },
];

const GROUP: readonly Attribute[] = [
  text('displayName', 'name of the group', { isRequired: true, isUnique: true }),
  {
    name: 'members',
    type: 'complex',
    isMultiple: true,
    description: 'users of the group',
    parts: [
      text('value', 'id of the user', { isRequired: true }),
      { name: '$ref', type: 'reference', description: 'address of the user', refersTo: 'User' },
      text('display', 'name of the user', { isReadOnly: true }),
    ],
  },
];

/** Schemas of the resources (RFC 7643, section 7). */
export function schemas(baseUrl: string): { readonly id: string }[] {
  return [
    { id: USER_SCHEMA, name: 'User', description: 'a person of the organization', attributes: USER },
    { id: GROUP_SCHEMA, name: 'Group', description: 'a group of the identity provider', attributes: GROUP },
  ].map(({ attributes, ...schema }) => ({
    schemas: ['urn:ietf:params:scim:schemas:core:2.0:Schema'],
    ...schema,
    attributes: attributes.map(toAttribute),
    meta: { resourceType: 'Schema', location: `${baseUrl}/Schemas/${schema.id}` },
  }));
}

function toAttribute({
  isRequired,
  isReadOnly,
  isMultiple,
  isUnique,
  refersTo,
  parts,
  ...attribute
}: Attribute): object {
  return {
    ...attribute,
    multiValued: isMultiple === true,
    required: isRequired === true,
    caseExact: false,
    mutability: isReadOnly === true ? 'readOnly' : 'readWrite',
    returned: 'default',
    uniqueness: isUnique === true ? 'server' : 'none',
    ...(refersTo !== undefined && { referenceTypes: [refersTo] }),
    ...(parts !== undefined && { subAttributes: parts.map(toAttribute) }),
  };
}
