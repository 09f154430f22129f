"""The Template without the value that it needs."""

from support import Failure, edit, said


def drop_password(template):
    edit(template, ("  value: correct horse battery staple\n", ""))


def names_the_password(result):
    if b"MONGODB_PASSWORD" not in result.stderr:
        raise Failure("stderr does not name MONGODB_PASSWORD\n" + said(result))
