"""Samplers are held to their laws: what draws a little less, or the same twice, is found."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from discreet.audit import samplers
from discreet.audit.samplers import audit_sampler, audit_thresholds
from discreet.privacy import noise

BY_NAME = {sampler.name: sampler for sampler in samplers.samplers()}
GAUSSIAN, LAPLACE = BY_NAME["rounded Gaussian noise of scale 60"], BY_NAME["discrete Laplace noise of scale 8"]
ALPHA = 1e-6


def with_draw(sampler, change):
    return replace(sampler, draw=lambda source, number: change(sampler.draw, source, number))


def reused(draw, source, number):
    once = draw(source, -(-number // 2))
    return np.concatenate([once, once])[:number]


def turned(draw, source, number):
    once = draw(source, -(-number // 2))
    return np.concatenate([once, -once])[:number]


def stuttered(draw, source, number):
    return np.repeat(draw(source, -(-number // 2)), 2)[:number]


def kept(draw, source, number, memory):
    return memory.setdefault(number, draw(source, number))


@pytest.mark.parametrize("change", [reused, turned, stuttered])
@pytest.mark.parametrize("sampler", [GAUSSIAN, LAPLACE], ids=lambda sampler: sampler.name)
def test_draws_that_have_to_do_with_each_other_are_found(sampler, change):
    found = audit_sampler(with_draw(sampler, change), 64_000, ALPHA)
    assert found.violated
    assert "expected" in found.evidence


def test_a_source_that_keeps_its_draws_is_found():
    memory = {}
    found = audit_sampler(with_draw(GAUSSIAN, lambda draw, source, n: kept(draw, source, n, memory)), 20_000, ALPHA)
    assert found.violated


def test_noise_that_is_two_percent_too_small_is_found():
    sampler = BY_NAME["rounded Gaussian noise of scale 60"]
    small = replace(sampler, draw=lambda source, number: source.rounded_gaussian(58.8, number))
    assert audit_sampler(small, 200_000, ALPHA).violated


@pytest.mark.parametrize("name", BY_NAME)
def test_every_sampler_has_its_law(name):
    found = audit_sampler(BY_NAME[name], 20_000, 1e-9)
    assert not found.violated, found.evidence
    assert found.runs >= 2_000 * BY_NAME[name].share


def test_a_choice_that_is_off_by_one_candidate_is_found(monkeypatch):
    real = noise.invert_choice
    monkeypatch.setattr(noise, "invert_choice", lambda utilities, scale, more: max(real(utilities, scale, more) - 1, 0))
    assert audit_sampler(BY_NAME["a choice of 4, scale 2"], 50_000, ALPHA).violated


@pytest.mark.parametrize(
    ("where", "wrong"),
    [
        ("_threshold", lambda real: lambda k, sigma, bits: real(k, sigma * (1 - 1e-12), bits)),
        ("_weight", lambda real: lambda drop, scale, bits: real(drop, scale * (1 + 1e-12), bits)),
    ],
)
def test_thresholds_that_are_off_by_less_than_draws_could_show_are_found(monkeypatch, where, wrong):
    assert not audit_thresholds("x").violated
    monkeypatch.setattr(noise, where, wrong(getattr(noise, where)))
    assert audit_thresholds("x").violated


def test_keys_that_tie_and_are_kept_are_found(monkeypatch):
    monkeypatch.setattr(samplers, "sorted_keys", lambda draw: np.argsort(draw(), kind="stable"))
    assert "tie" in audit_thresholds("x").evidence


def test_noise_on_a_coarse_grid_is_found(monkeypatch):
    real = noise.invert_rounded_gaussian
    monkeypatch.setattr(
        samplers,
        "invert_rounded_gaussian",
        lambda sigma, *given: real(sigma, *given) if sigma < 4096 else 16 * real(sigma / 16, *given),
    )
    assert "sigma 5000" in audit_thresholds("thresholds").evidence
    exact = noise.ExactNoise.rounded_gaussian
    monkeypatch.setattr(
        noise.ExactNoise, "rounded_gaussian", lambda self, sigma, size: 16 * exact(self, sigma / 16, size)
    )
    bits = next(s for s in samplers.samplers() if s.name == "rounded Gaussian noise of scale 1e+07, last bits")
    assert audit_sampler(bits, 20_000, 1e-6).violated


@pytest.mark.parametrize("kind", ["rounded Gaussian", "discrete Gaussian", "discrete Laplace", "geometric"])
def test_large_noise_that_is_too_small_is_found(kind):
    sizes = next(s for s in samplers.samplers() if s.name == f"{kind} noise of scale 1e+07, size")
    smaller = replace(sizes, draw=lambda source, n: (sizes.draw(source, n) * 0.9).astype(np.int64))
    assert not audit_sampler(sizes, 200_000, 1e-6).violated
    assert audit_sampler(smaller, 1_000_000, 1e-6).violated
