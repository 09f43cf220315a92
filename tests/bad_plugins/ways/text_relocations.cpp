// An address within code.
asm(".text\n.globl bad_anchor\n.hidden bad_anchor\nbad_anchor:\n.quad bad_anchor\n");
