import { describe, expect, it } from 'vitest';
import { openWarehouse } from '../support/warehouse-stage.ts';

const sentence = 'crm.lead shows what the CRM has: edit it there. Editing by SQL is not switched on.';

const edits = [
  "INSERT INTO crm.lead (id, title) VALUES (2, 'new')",
  "UPDATE crm.lead SET title = 'edited'",
  'DELETE FROM crm.lead',
  'TRUNCATE crm.lead CASCADE',
  "INSERT INTO crm.lead (id) VALUES (1) ON CONFLICT (id) DO UPDATE SET title = 'edited'",
] as const;

describe('the guard of a table', () => {
  it.each(edits)('W14: refuses a superuser: %s', async (sql) => {
    await using stage = await openWarehouse();
    await stage.layOut();
    await stage.write("INSERT INTO crm.lead (id, title) VALUES (1, 'as it is')");
    await expect(stage.admin.query(sql)).rejects.toMatchObject({ message: sentence, code: '42501' });
    // A session that plays a replica passes ordinary triggers by, and a forged run is no login.
    await stage.admin.query("SET session_replication_role = replica; SET crm_sync.run = 'forged'");
    await expect(stage.admin.query(sql)).rejects.toMatchObject({ message: sentence });
    const { rows } = await stage.admin.query('SELECT id, title FROM crm.lead');
    expect(rows).toEqual([{ id: '1', title: 'as it is' }]);
  });

  it("W14: refuses the daemon's own login outside of a write", async () => {
    await using stage = await openWarehouse();
    await stage.layOut();
    await expect(stage.daemon.query('DELETE FROM crm.lead')).rejects.toMatchObject({ message: sentence });
  });

  it('lets a write of the daemon through, and ends with it', async () => {
    await using stage = await openWarehouse();
    await stage.layOut();
    await stage.write("INSERT INTO crm.lead (id, title) VALUES (1, 'x'); UPDATE crm.lead SET title = 'y'");
    await expect(stage.daemon.query('DELETE FROM crm.lead')).rejects.toMatchObject({ message: sentence });
  });

  it('fault 20: refuses TRUNCATE of a table of a user that would empty it as well', async () => {
    await using stage = await openWarehouse();
    await stage.layOut();
    await stage.write('INSERT INTO crm.lead (id) VALUES (1)');
    await stage.admin.query(
      'CREATE TABLE public.region (id int PRIMARY KEY); ALTER TABLE crm.lead ADD COLUMN region_id int REFERENCES public.region',
    );
    await expect(stage.admin.query('TRUNCATE public.region CASCADE')).rejects.toMatchObject({
      code: '42501',
    });
    expect((await stage.admin.query('SELECT id FROM crm.lead')).rows).toEqual([{ id: '1' }]);
  });

  it('lets people read, and write to tables of their own', async () => {
    await using stage = await openWarehouse();
    await stage.layOut();
    await stage.admin.query(
      'CREATE TABLE public.mine (id int); INSERT INTO public.mine SELECT count(*) FROM crm.lead',
    );
    expect((await stage.admin.query('SELECT id FROM public.mine')).rows).toEqual([{ id: 0 }]);
  });
});
