"""Errors of environments."""

from __future__ import annotations

from forge.errors import Conflict, Denied, InvalidInput, NotFound, Upstream


class EnvironmentInvalid(InvalidInput):
    """`.forge/environment.yaml` cannot be used."""

    code = "environment_invalid"


class EnvironmentMissing(NotFound):
    """The branch shows nothing to set up, or nothing was set up."""

    code = "environment_missing"


class SetupNotApproved(Denied):
    """A setup runs only what a person approved."""

    code = "setup_not_approved"


class ProposalChanged(Conflict):
    """The branch proposes something else than the person read."""

    code = "proposal_changed"


class SetupFailed(Upstream):
    """A command of the setup failed, or a host could not be reached."""

    code = "setup_failed"


class SetupUnderWay(Conflict):
    """Another process sets up the same layer."""

    code = "setup_under_way"


class ImageMissing(EnvironmentInvalid):
    """The image that is to be the base is not on this machine, or cannot be used."""

    code = "image_missing"
