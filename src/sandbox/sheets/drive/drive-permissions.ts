import { z } from 'zod';
import type { Documents, Permission, StoredFile } from '../documents.ts';
import { parseFieldMask, selectFields } from '../wire/field-mask.ts';
import { driveBadRequest, driveNotFound } from '../wire/google-error.ts';
import type { JsonObject } from '../wire/json.ts';
import type { DriveAnswer, DriveCall } from './drive-call.ts';

const DEFAULT_FIELDS = 'kind,id,type,role,allowFileDiscovery';

const permissionShape = z.object({
  type: z.enum(['user', 'group', 'domain', 'anyone']),
  role: z.enum(['owner', 'organizer', 'fileOrganizer', 'writer', 'commenter', 'reader']),
  emailAddress: z.string().optional(),
  domain: z.string().optional(),
  allowFileDiscovery: z.boolean().optional(),
});

/** Who may see and edit a file besides its owner, whose own permission is listed first. */
export function answerPermissions(
  documents: Documents,
  file: StoredFile,
  call: DriveCall,
  permissionId: string | undefined,
): DriveAnswer | undefined {
  const fields = call.query.get('fields');
  const shown = (permission: Permission): DriveAnswer => ({
    json: selectFields(permissionJson(permission), parseFieldMask(fields ?? DEFAULT_FIELDS)),
  });
  if (permissionId === undefined) {
    if (call.method === 'GET') return { json: listed(file, fields) };
    return call.method === 'POST' ? shown(share(documents, file, call)) : undefined;
  }
  const permission = allOf(file).find(({ id }) => id === permissionId);
  if (!permission) throw driveNotFound('Permission', permissionId, 'permissionId');
  switch (call.method) {
    case 'GET':
      return shown(permission);
    case 'PATCH': {
      const { role } = parsed(permissionShape.pick({ role: true }), call.body);
      const changed = { ...permission, role };
      file.permissions = file.permissions.map((other) => (other === permission ? changed : other));
      return shown(changed);
    }
    case 'DELETE':
      file.permissions = file.permissions.filter((other) => other !== permission);
      return { empty: true };
    default:
      return undefined;
  }
}

function allOf(file: StoredFile): Permission[] {
  const owner: Permission = {
    id: file.ownerPermissionId,
    type: 'user',
    role: 'owner',
    emailAddress: file.owner,
  };
  return [owner, ...file.permissions];
}

function listed(file: StoredFile, fields: string | null): JsonObject {
  const permissions = allOf(file).map(permissionJson);
  const mask = parseFieldMask(fields ?? `kind,permissions(${DEFAULT_FIELDS})`);
  return selectFields({ kind: 'drive#permissionList', permissions }, mask);
}

/** Sharing with somebody again changes what they may do; a new owner takes the file over. */
function share(documents: Documents, file: StoredFile, { body, query }: DriveCall): Permission {
  const sent = parsed(permissionShape, body);
  const isPerson = sent.type === 'user' || sent.type === 'group';
  if (isPerson && !sent.emailAddress) {
    throw driveBadRequest('The permission type field is required.', 'permission.emailAddress');
  }
  if (sent.role === 'owner' && query.get('transferOwnership')?.toLowerCase() !== 'true') {
    throw driveBadRequest(
      "The transferOwnership parameter must be enabled when the permission role is 'owner'.",
      'transferOwnership',
      403,
    );
  }
  const same = file.permissions.find(
    ({ type, emailAddress, domain }) =>
      type === sent.type && emailAddress === sent.emailAddress && domain === sent.domain,
  );
  const id = sent.type === 'anyone' ? 'anyoneWithLink' : (same?.id ?? String(documents.ids.nextId()));
  const permission = { ...sent, id };
  file.permissions = [...file.permissions.filter((other) => other !== same), permission];
  return permission;
}

function parsed<Body>(shape: z.ZodType<Body>, body: unknown): Body {
  const result = shape.safeParse(body);
  if (result.success) return result.data;
  const name = result.error.issues[0]?.path.join('.') ?? '';
  throw driveBadRequest(`The permission ${name} field is required.`, `permission.${name}`);
}

function permissionJson(permission: Permission): JsonObject {
  const { id, type, role, emailAddress, domain, allowFileDiscovery = false } = permission;
  const isPerson = type === 'user' || type === 'group';
  return {
    kind: 'drive#permission',
    id,
    type,
    role,
    ...(emailAddress !== undefined && { emailAddress, displayName: emailAddress.replace(/@.*$/, '') }),
    ...(domain !== undefined && { domain, displayName: domain }),
    ...(isPerson ? { deleted: false, pendingOwner: false } : { allowFileDiscovery }),
  };
}
