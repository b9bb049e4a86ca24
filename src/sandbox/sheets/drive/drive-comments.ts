import { ROBOT } from '../accounts.ts';
import type { Documents, StoredFile } from '../documents.ts';
import { parseFieldMask, selectFields } from '../wire/field-mask.ts';
import { driveBadRequest, driveNotFound } from '../wire/google-error.ts';
import { isJsonObject } from '../wire/json.ts';
import type { DriveAnswer, DriveCall } from './drive-call.ts';

/** The comments on a file; Drive insists on being told which of their fields are wanted. */
export function answerComments(
  documents: Documents,
  file: StoredFile,
  call: DriveCall,
  commentId: string | undefined,
): DriveAnswer | undefined {
  if (call.method === 'DELETE' && commentId !== undefined) {
    if (!file.comments.some(({ id }) => id === commentId))
      throw driveNotFound('Comment', commentId, 'commentId');
    file.comments = file.comments.filter(({ id }) => id !== commentId);
    return { empty: true };
  }
  const fields = call.query.get('fields');
  if (fields === null) throw driveBadRequest("The 'fields' parameter is required for this method.", 'fields');
  const mask = parseFieldMask(fields);
  if (call.method === 'GET' && commentId === undefined) {
    return { json: selectFields({ kind: 'drive#commentList', comments: file.comments }, mask) };
  }
  if (call.method === 'POST' && commentId === undefined) {
    const { content, anchor } = isJsonObject(call.body) ? call.body : {};
    const time = new Date(call.nowMs).toISOString();
    const comment = {
      kind: 'drive#comment',
      id: String(documents.ids.nextId()),
      createdTime: time,
      modifiedTime: time,
      author: { kind: 'drive#user', emailAddress: ROBOT, me: true },
      deleted: false,
      resolved: false,
      content: content ?? '',
      ...(anchor !== undefined && { anchor }),
      replies: [],
    };
    file.comments = [...file.comments, comment];
    return { json: selectFields(comment, mask) };
  }
  const comment = file.comments.find(({ id }) => id === commentId);
  if (!comment) throw driveNotFound('Comment', commentId ?? '', 'commentId');
  return call.method === 'GET' ? { json: selectFields(comment, mask) } : undefined;
}
